#include "core/store/meta.h"

#include "core/base/text.h"

namespace hostler::store {

Result<std::string> meta_value(Connection& connection, std::string_view key) {
  auto find = HOSTLER_TRY(connection.prepare("SELECT value FROM meta WHERE key = $1"));
  HOSTLER_TRY(find.start(key));
  return HOSTLER_TRY(find.next()) ? find.text(0) : std::string();
}

Result<void> put_meta(Connection& connection, std::string_view key, std::string_view value) {
  auto put = HOSTLER_TRY(connection.prepare(kPutMeta));
  return put.run(key, value);
}

Result<void> put_number(Connection& connection, std::string_view key, std::uint64_t number) {
  const auto text = std::to_string(number);
  if (number > kNumberMax) return tl::unexpected(damaged_number(key, text));
  return put_meta(connection, key, text);
}

Error damaged_number(std::string_view name, std::string_view value) {
  return {Errc::kInternal, "the store's " + std::string(name) + " is '" + printable(value, 60) +
                               "', which is not a number in its range: the database is damaged; "
                               "restore a backup"};
}

Result<std::uint64_t> meta_number(Connection& connection, std::string_view key) {
  const auto value = HOSTLER_TRY(meta_value(connection, key));
  if (value.empty()) return 0;
  if (const auto number = parse_u64(value); number && *number <= kNumberMax) return *number;
  return tl::unexpected(damaged_number(key, value));
}

}  // namespace hostler::store
