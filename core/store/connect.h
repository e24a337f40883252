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

/// Blocks. A store has one kWrite connection; PostgreSQL refuses a second one with kConflict.
Result<std::unique_ptr<Connection>> connect(const Place& place, Mode mode);
/// `count` kRead connections. They share the knowledge that a server cannot be reached, so only one
/// of them waits for it.
Result<std::vector<std::unique_ptr<Connection>>> connect_readers(const Place& place,
                                                                 std::size_t count);

}  // namespace hostler::store
