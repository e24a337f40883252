#pragma once

#include "core/base/error.h"
#include "core/model/records.h"
#include "core/store/sqlite/database.h"

namespace hostler::store {

/// Makes the owner id if there is none, and raises the epoch; one transaction.
Result<void> begin_epoch(sqlite::Connection& connection);
/// Everything that a start needs to know. Reads only.
Result<model::Restored> restore(sqlite::Connection& connection);

}  // namespace hostler::store
