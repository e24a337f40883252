#include "core/daemon/installation.h"

#include "core/base/files.h"
#include "core/crypto/ssh_keys.h"
#include "core/driver_host/parent/describe.h"
#include "core/plugin_host/discovery.h"

namespace hostler::daemon {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code problem;
  return fs::read_symlink("/proc/self/exe", problem).parent_path();
}

Result<std::string> read_agent_program() {
  constexpr std::size_t kBytesMax = std::size_t{16} << 20;
  const fs::path beside = program_folder() / "hostler-agent";
  auto program = read_file(beside, kBytesMax);
  if (!program) program = read_file(program_folder() / "../lib/hostler/hostler-agent", kBytesMax);
  if (!program)
    return fail(Errc::kNotFound, "hostler-agent is neither at " + beside.string() +
                                     " nor in ../lib/hostler: is the installation whole?");
  return program;
}

std::string driver_host_program() { return driver_host::find_program(program_folder()); }

std::vector<fs::path> driver_folders(const std::vector<fs::path>& configured) {
  return plugin_host::paths_of(plugin_host::search_order(configured, program_folder()));
}

Result<std::string> own_user_key(const fs::path& state, const std::string& set) {
  const fs::path file = state / "keys" / (set + "_ed25519");
  auto known = read_file(file, 65536);
  if (known || known.error().code != Errc::kNotFound) return known;
  std::error_code problem;
  fs::create_directories(file.parent_path(), problem);
  if (!problem) fs::permissions(file.parent_path(), fs::perms::owner_all, problem);
  if (problem) return fail(Errc::kInternal, file.parent_path().string() + ": " + problem.message());
  const auto pair = crypto::make_ed25519_key("hostler-" + set);
  HOSTLER_TRY(write_file(file, pair.private_key, 0600));
  HOSTLER_TRY(write_file(file.string() + ".pub", pair.public_key + "\n", 0644));
  return pair.private_key;
}

}  // namespace hostler::daemon
