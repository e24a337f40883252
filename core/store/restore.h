#pragma once

#include "core/base/error.h"
#include "core/model/records.h"
#include "core/store/database.h"

namespace hostler::store {

/// Makes the owner id if there is none, and raises the epoch; one transaction.
Result<void> begin_epoch(Connection& connection);
/// Everything that a start needs to know. Reads only.
Result<model::Restored> restore(Connection& connection);

}  // namespace hostler::store
