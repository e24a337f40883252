#pragma once

#include <string>
#include <string_view>

#include "core/store/database.h"

/// The table meta: single values of the store by key. schema_version, owner, epoch, the highest
/// numbers ever used (last_work, ...), and in PostgreSQL last_commit.
namespace hostler::store {

inline constexpr std::string_view kPutMeta =
    "INSERT INTO meta (key, value) VALUES ($1, $2) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/// Empty if there is no such key.
Result<std::string> meta_value(Connection& connection, std::string_view key);
Result<void> put_meta(Connection& connection, std::string_view key, std::string_view value);

}  // namespace hostler::store
