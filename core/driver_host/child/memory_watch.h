#pragma once

#include <dirent.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/files.h"

namespace hostler::driver_host {

/// How much memory this process shares, or could: mappings, and memory files, which no limit of a
/// process counts. For where no cgroup does. It finds defects: a driver that wants to can hide a
/// memory file in a message of a socket.
class MemoryWatch {
 public:
  MemoryWatch();
  /// The sum; a memory file that is mapped counts twice. Unset: somebody has closed what this
  /// reads.
  [[nodiscard]] std::optional<std::uint64_t> shared_bytes() const;

 private:
  [[nodiscard]] std::optional<std::uint64_t> mapped() const;
  [[nodiscard]] std::optional<std::uint64_t> in_files() const;

  struct Close {
    void operator()(DIR* dir) const { ::closedir(dir); }
  };
  // Opened while there are descriptors.
  UniqueFd status_;
  std::unique_ptr<DIR, Close> descriptors_;
};

}  // namespace hostler::driver_host
