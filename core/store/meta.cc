#include "core/store/meta.h"

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

}  // namespace hostler::store
