#include "core/agent/host/system/ram.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/agent/host/system/os.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr std::uint64_t kRamMost = std::uint64_t{1} << 50U;

std::optional<std::uint64_t> number_of(std::string_view text) {
  const auto number = parse_u64(text);
  return number && *number > 0 ? number : std::nullopt;
}

/// "MemTotal:       16384 kB"
std::optional<std::uint64_t> ram_of_kernel() {
  constexpr std::string_view kKey = "MemTotal:";
  const std::string text = read_small("/proc/meminfo");
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with(kKey)) continue;
    line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
    const auto kib = number_of(line.substr(0, line.find(' ')));
    if (kib && *kib <= kRamMost / 1024) return *kib * 1024;
  }
  return std::nullopt;
}

/// Of the topmost cgroup that is seen here, which a container has, in version 2 or 1. "max" and
/// huge numbers are no limit.
std::optional<std::uint64_t> limit_of_container() {
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const std::string text = read_small(path, 64);
    const auto limit = number_of(std::string_view(text).substr(0, text.find('\n')));
    if (limit && *limit < kRamMost) return limit;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> ram_bytes() {
  std::optional<std::uint64_t> out;
  if (const char* given = std::getenv("HOSTLER_RAM"); given != nullptr && *given != '\0') {
    out = number_of(given);
  } else {
    out = ram_of_kernel();
    if (const auto limit = limit_of_container(); out && limit) out = std::min(*out, *limit);
  }
  return out && *out <= kRamMost ? std::optional(static_cast<std::int64_t>(*out)) : std::nullopt;
}

}  // namespace hostler::agent
