#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/model/records.h"
#include "core/store/database.h"

namespace hostler::store {

/// Makes the owner id if there is none, and raises the epoch, in one transaction. kInternal: one of
/// them is damaged.
Result<void> begin_epoch(Connection& connection);
/// The owner id, which the first begin_epoch() made.
Result<std::string> owner_of(Connection& connection);
/// The highest segment that a row points into; 0 if none does.
Result<std::uint64_t> last_segment(Connection& connection);
/// Everything that a start needs. Does not write. Damaged rows are in Restored::damaged; an error
/// means that the database cannot be read, or that a value of meta is damaged.
Result<model::Restored> restore(Connection& connection);

}  // namespace hostler::store
