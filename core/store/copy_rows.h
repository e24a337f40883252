#pragma once

#include "core/base/error.h"
#include "core/store/database.h"

namespace hostler::store {

/// Copies all rows from one engine to the other, in one transaction of each. Both have the newest
/// schema; one of them is SQLite. The tables of `to` are empty, except meta, whose rows are
/// replaced. What is committed to `from` meanwhile is not copied.
Result<void> copy_rows(Connection& from, Connection& to);

}  // namespace hostler::store
