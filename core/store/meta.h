#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/store/database.h"

/// The table meta: single values of the store by key. schema_version, owner, epoch, the highest
/// numbers ever used (last_work, ...), and in PostgreSQL last_commit.
namespace hostler::store {

/// Numbers are given out one by one: a larger one was never given out.
inline constexpr std::int64_t kNumberMax = INT64_MAX / 2;
/// The error of a number that is larger, or no number.
Error damaged_number(std::string_view name, std::string_view value);

inline constexpr std::string_view kPutMeta =
    "INSERT INTO meta (key, value) VALUES ($1, $2) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/// Empty if there is no such key.
Result<std::string> meta_value(Connection& connection, std::string_view key);
/// Of a key that holds a number; 0 if there is no such key. kInternal if it holds something else.
Result<std::uint64_t> meta_number(Connection& connection, std::string_view key);
Result<void> put_meta(Connection& connection, std::string_view key, std::string_view value);
/// kInternal for a number that meta_number() would not read.
Result<void> put_number(Connection& connection, std::string_view key, std::uint64_t number);

}  // namespace hostler::store
