#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/model/records.h"
#include "core/store/database.h"

namespace hostler::store {

/// Makes the owner id if there is none, and raises the epoch; one transaction.
Result<void> begin_epoch(Connection& connection);
/// Made by the first begin_epoch().
Result<std::string> owner_of(Connection& connection);
/// The highest segment that a row points into; 0: none does.
Result<std::uint64_t> last_segment(Connection& connection);
/// Everything that a start needs to know. Reads only.
Result<model::Restored> restore(Connection& connection);

}  // namespace hostler::store
