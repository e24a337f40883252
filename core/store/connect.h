#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/store/database.h"

namespace hostler::store {

/// Where a store is.
struct Place {
  std::filesystem::path folder;  ///< Files; and the rows, if they are SQLite's.
  std::string postgres = {};     ///< libpq's connection string; empty: SQLite.
};

/// Blocking. One kWrite connection a store: in PostgreSQL another's is refused with kConflict.
Result<std::unique_ptr<Connection>> connect(const Place& place, Mode mode);
/// So many kRead connections. When a server cannot be reached, what one of them has waited for the
/// others are told at once.
Result<std::vector<std::unique_ptr<Connection>>> connect_readers(const Place& place,
                                                                 std::size_t count);

}  // namespace hostler::store
