#include "core/driver_host/child/process_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "core/base/text.h"

namespace hostler::driver_host {
namespace {

constexpr std::uint64_t kBlock = 512;  // of st_blocks

}  // namespace

ProcessWatch::ProcessWatch()
    : status_(::open("/proc/self/status", O_RDONLY | O_CLOEXEC)),
      descriptors_(::opendir("/proc/self/fd")) {}

std::optional<std::uint64_t> ProcessWatch::shared_bytes() const {
  const auto of_mappings = status("RssShmem:"), of_files = in_files();
  if (!of_mappings || !of_files) return std::nullopt;
  return (*of_mappings << 10U) + *of_files;
}

std::optional<std::uint64_t> ProcessWatch::status(std::string_view key) const {
  std::array<char, 8192> text{};
  const ssize_t size = ::pread(status_.get(), text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  std::string_view line(text.data(), static_cast<std::size_t>(size));
  const auto at = line.find(key);
  if (at == std::string_view::npos) return 0;  // of a kernel without shared memory
  line.remove_prefix(line.find_first_of("0123456789", at));
  return parse_u64(line.substr(0, line.find_first_of(" \n"))).value_or(0);
}

/// A file without a name: a driver cannot make any other one.
std::optional<std::uint64_t> ProcessWatch::in_files() const {
  if (!descriptors_) return std::nullopt;
  ::rewinddir(descriptors_.get());
  std::uint64_t out = 0;
  std::size_t seen = 0;
  while (const dirent* entry = ::readdir(descriptors_.get())) {
    const auto fd = parse_u64(entry->d_name);
    struct stat found {};
    if (!fd || ::fstat(static_cast<int>(*fd), &found) != 0) continue;
    ++seen;
    if (S_ISREG(found.st_mode) && found.st_nlink == 0)
      out += static_cast<std::uint64_t>(found.st_blocks) * kBlock;
  }
  if (seen == 0) return std::nullopt;
  return out;
}

}  // namespace hostler::driver_host
