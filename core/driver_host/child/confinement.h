#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/driver_host/child/file_access.h"
#include "core/driver_host/wire/child_arguments.h"

namespace hostler::driver_host {

/// What is in force in this process.
struct Confinement {
  model::Sandbox level = model::Sandbox::kNone;
  std::string why_less;  ///< Why it is not the level that was asked for; empty: it is.
  FileAccess files;
  /// "cgroup": all of it is counted; "process": not what is shared.
  const char* memory_limit = "none";
  const char* cpu_limit = "none";  ///< "cgroup", "nice"
};

/// Takes from this process, for ever, what a driver does not need. Before any code of the driver
/// runs, and before there is a second thread. `library`: the driver's open files, which stay
/// readable. `cgroups`: folders of those that it enters. Fails if less than `options.min` can be
/// reached; the message says why and what to do.
Result<Confinement> confine(const SandboxOptions& options, const plugin_host::LibraryFile& library,
                            const std::vector<std::string>& cgroups = {});

}  // namespace hostler::driver_host
