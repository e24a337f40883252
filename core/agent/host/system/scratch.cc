#include "core/agent/host/system/scratch.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <string>

#include "core/agent/host/system/os.h"
#include "core/base/files.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr const char* kFile = "scratch";
constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;

std::int64_t bytes_of(fsblkcnt_t blocks, const struct statvfs& space) {
  const std::uint64_t size = std::max<std::uint64_t>(space.f_frsize, 1);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(blocks, kMost / size) * size);
}

/// "<bytes> <boot id>"
std::optional<std::uint64_t> kept_bytes(std::string_view boot_id) {
  const std::string kept = read_small(kFile, 256);
  const std::string end = " " + std::string(boot_id) + "\n";
  if (boot_id.empty() || !kept.ends_with(end)) return std::nullopt;
  const auto bytes = parse_u64(kept.substr(0, kept.size() - end.size()));
  return bytes && *bytes <= kMost ? bytes : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> scratch_bytes(bool unused, std::string_view boot_id) {
  struct statvfs space {};
  if (::statvfs(".", &space) != 0) return std::nullopt;
  if (const auto before = kept_bytes(boot_id))
    return std::min(static_cast<std::int64_t>(*before), bytes_of(space.f_blocks, space));
  if (!unused) return std::nullopt;
  const std::int64_t free = bytes_of(space.f_bavail, space);
  (void)write_file(kFile, std::to_string(free) + " " + std::string(boot_id) + "\n", 0600);
  return free;
}

}  // namespace hostler::agent
