#include "core/daemon/sandbox_of_set.h"

namespace hostler::daemon {
namespace {

std::string quoted(model::Sandbox sandbox) { return '"' + std::string(to_string(sandbox)) + '"'; }

}  // namespace

Result<driver_host::SandboxOptions> sandbox_of(const SetSource& set,
                                               const plugin_host::Manifest& driver,
                                               model::Sandbox min) {
  if (!set.sandbox && driver.sandbox != model::Sandbox::kFull && driver.name != "local")
    return fail(Errc::kForbidden, "it asks for the sandbox " + quoted(driver.sandbox) +
                                      ": write \"sandbox\": " + quoted(driver.sandbox) +
                                      " into set \"" + set.name +
                                      "\" if you trust it with that, or \"full\"");
  const model::Sandbox level =
      set.sandbox.value_or(driver.name == "local" ? model::Sandbox::kNone : model::Sandbox::kFull);
  if (level < min)
    return fail(Errc::kForbidden, "it needs the sandbox " + quoted(level) +
                                      ", but sandbox_min is " + quoted(min) +
                                      ": lower sandbox_min, or remove the set");
  return driver_host::SandboxOptions{.level = level, .min = min, .readable = set.readable};
}

}  // namespace hostler::daemon
