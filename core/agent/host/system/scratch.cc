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

}  // namespace

std::optional<std::int64_t> scratch_bytes(bool unused) {
  struct statvfs space {};
  if (::statvfs(".", &space) != 0) return std::nullopt;
  std::string kept = read_small(kFile, 32);
  if (kept.ends_with('\n')) kept.pop_back();
  if (const auto before = parse_u64(kept); before && *before <= kMost)
    return std::min(static_cast<std::int64_t>(*before), bytes_of(space.f_blocks, space));
  if (!unused) return std::nullopt;
  const std::int64_t free = bytes_of(space.f_bavail, space);
  (void)write_file(kFile, std::to_string(free) + "\n", 0600);
  return free;
}

}  // namespace hostler::agent
