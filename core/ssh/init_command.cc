#include "core/ssh/init_command.h"

#include <array>
#include <cstdio>

#include "core/base/text.h"
#include "core/crypto/base64.h"
#include "core/ssh/scripts.h"

namespace hostler::ssh {
namespace {

std::string octal(std::uint32_t mode) {
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), "%04o", mode);
  return out.data();
}

/// Base64 text has no "_", so that it does not have the last line.
std::string write_file(const model::BootFile& file) {
  return "hostler_file " + shell_word(file.path) + " " + octal(file.mode) + " " +
         shell_word(file.owner) + " <<'HOSTLER_END' || exit 1\n" + crypto::to_base64(file.content) +
         "\nHOSTLER_END\n";
}

}  // namespace

std::string place_variables(const HostPlace& place) {
  return "HOSTLER_INSTANCE=" + shell_word(place.instance) +
         " HOSTLER_POOL=" + shell_word(place.pool) + " HOSTLER_SET=" + shell_word(place.set) +
         " HOSTLER_CLOUD_ID=" + shell_word(place.cloud_id) +
         "\nexport HOSTLER_INSTANCE HOSTLER_POOL HOSTLER_SET HOSTLER_CLOUD_ID\n";
}

std::string make_init_command(const model::PoolPolicy& pool, const HostPlace& place) {
  if (!model::runs_at_boot(pool)) return {};
  std::string out = place_variables(place);
  if (!pool.boot_files->empty()) out += scripts::kBootFile;
  for (const auto& file : *pool.boot_files) out += write_file(file);
  return out + pool.init_command;
}

}  // namespace hostler::ssh
