#pragma once

#include "core/base/error.h"
#include "core/store/database.h"

namespace hostler::store {

/// The newest schema that this program knows.
int schema_version();

/// Brings the database to schema_version() in one transaction; a database of a newer program is
/// refused and left as it is.
Result<void> migrate(Connection& connection);

}  // namespace hostler::store
