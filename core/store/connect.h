#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/store/database.h"

namespace hostler::store {

/// Where a store is.
struct Place {
  std::filesystem::path folder;  ///< Files; and the rows, if they are SQLite's.
  std::string postgres = {};     ///< libpq's connection string; empty: SQLite.
};

/// Blocking. One kWrite connection a store: in PostgreSQL another's is refused with kConflict.
Result<std::unique_ptr<Connection>> connect(const Place& place, Mode mode);

}  // namespace hostler::store
