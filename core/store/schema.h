#pragma once

#include "core/base/error.h"
#include "core/store/database.h"

namespace hostler::store {

/// The newest schema that this program knows.
int schema_version();

/// Brings the database to `version` in one transaction. A database of a newer program is refused
/// and left as it is. An older version than the newest is for tests. Blocks for as long as it
/// takes.
Result<void> migrate(Connection& connection, int version = schema_version());

}  // namespace hostler::store
