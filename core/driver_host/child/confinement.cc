#include "core/driver_host/child/confinement.h"

#include <utility>

#include "core/driver_host/child/call_filter.h"
#include "core/driver_host/child/privileges.h"

namespace hostler::driver_host {
namespace {

using model::Sandbox;

/// As much as the kernel can: also the filter of calls where it has no rules for files.
Confinement restrict_files_and_calls(const SandboxOptions& options,
                                     const plugin_host::LibraryFile& library) {
  Confinement out;
  auto files = FileAccess::restrict(options, library);
  const auto calls = options.level == Sandbox::kFull ? restrict_calls() : Result<void>();
  if (files) {
    out.level = calls ? options.level : Sandbox::kFiles;
    out.files = *std::move(files);
  } else {
    out.why_less = files.error().message;
  }
  if (!calls) out.why_less += (out.why_less.empty() ? "" : "; ") + calls.error().message;
  return out;
}

}  // namespace

Result<Confinement> confine(const SandboxOptions& options, const plugin_host::LibraryFile& library,
                            const std::vector<std::string>& cgroups) {
  Confinement out;
  if (options.level < options.min) out.why_less = "no more was asked for";
  keep_memory_private();
  if (options.level != Sandbox::kNone) {
    const bool has_cgroup = enter_cgroups(cgroups);
    limit_resources();
    const bool gives_way = !has_cgroup && give_way();
    HOSTLER_TRY(drop_privileges());
    out = restrict_files_and_calls(options, library);
    out.memory_limit = has_cgroup ? "cgroup" : "process";
    out.cpu_limit = has_cgroup ? "cgroup" : gives_way ? "nice" : "none";
  }
  if (out.level >= options.min) return out;
  return fail(Errc::kUnavailable, "the sandbox of the driver's process is " +
                                      std::string(to_string(out.level)) +
                                      ", but sandbox_min of the configuration is " +
                                      std::string(to_string(options.min)) + ": " + out.why_less +
                                      ". Run hostlerd where this works, or lower sandbox_min");
}

}  // namespace hostler::driver_host
