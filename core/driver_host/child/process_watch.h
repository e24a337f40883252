#pragma once

#include <dirent.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/files.h"

namespace hostler::driver_host {

/// What no limit of a process counts, for where no cgroup does: its threads, and how much memory it
/// shares, or could, by mappings and memory files. It finds defects: a driver that wants to can
/// hide a memory file in a message of a socket, and make many threads between two looks.
class ProcessWatch {
 public:
  ProcessWatch();
  /// Unset, here and below: somebody has closed what this reads.
  [[nodiscard]] std::optional<std::uint64_t> threads() const { return status("Threads:"); }
  /// The sum; a memory file that is mapped counts twice.
  [[nodiscard]] std::optional<std::uint64_t> shared_bytes() const;

 private:
  /// The number of this line of the status; 0: it has none.
  [[nodiscard]] std::optional<std::uint64_t> status(std::string_view key) const;
  [[nodiscard]] std::optional<std::uint64_t> in_files() const;

  struct Close {
    void operator()(DIR* dir) const { ::closedir(dir); }
  };
  // Opened while there are descriptors.
  UniqueFd status_;
  std::unique_ptr<DIR, Close> descriptors_;
};

}  // namespace hostler::driver_host
