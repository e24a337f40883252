#include "core/plugin_host/sandbox.h"

namespace hostler::plugin_host {

using model::Sandbox;

Result<Sandbox> sandbox_of(const Manifest& driver, std::optional<Sandbox> configured, Sandbox min) {
  const auto quoted = [](Sandbox sandbox) { return '"' + std::string(to_string(sandbox)) + '"'; };
  const bool is_local = driver.name == "local";
  if (!configured && driver.sandbox != Sandbox::kFull && !is_local)
    return fail(Errc::kForbidden, "it asks for the sandbox " + quoted(driver.sandbox) +
                                      ": write \"sandbox\": " + quoted(driver.sandbox) +
                                      " into the set if you trust it with that, or \"full\"");
  const Sandbox level = configured.value_or(is_local ? Sandbox::kNone : Sandbox::kFull);
  if (level < min)
    return fail(Errc::kForbidden, "its sandbox is " + quoted(level) + ", but sandbox_min is " +
                                      quoted(min) + ": lower sandbox_min, or remove the set");
  return level;
}

}  // namespace hostler::plugin_host
