#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/driver_host/wire/child_arguments.h"
#include "core/plugin_host/library_file.h"

namespace hostler::driver_host {

/// The files that this process may use, enforced by the kernel (Landlock): a driver reads what name
/// resolution, TLS and its libraries need, and writes nothing. With `Sandbox::kFiles` it may also
/// start the programs of the system and its own, which may use no other files.
class FileAccess {
 public:
  /// Restricts this thread and all that it starts, for ever. The error says why the kernel cannot.
  static Result<FileAccess> restrict(const SandboxOptions& options,
                                     const plugin_host::LibraryFile& library);

  /// Whether another file has taken the place of one that is readable, or there is one where none
  /// was. The rules are about files, not about names, so the new one is not readable.
  [[nodiscard]] bool is_outdated() const;
  /// Those of `SandboxOptions::readable` that do not exist.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }

 private:
  struct Watched {
    std::string path;
    dev_t device = 0;  ///< 0 and 0: there is none.
    ino_t inode = 0;
  };
  void watch(const std::string& path);

  std::vector<Watched> watched_;
  std::vector<std::string> missing_;
  UniqueFd own_folder_;  ///< Of /proc. The kernel forgets the rule when nobody has it open.
};

}  // namespace hostler::driver_host
