#pragma once

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "core/driver_host/parent/process_set.h"
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::driver_host {

inline bool kernel_has_landlock() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

/// A set of the driver that tries what a sandbox refuses (plugin_host/drivers/intruder.cc).
inline std::unique_ptr<plugin_host::DriverSet> make_intruder(
    const SandboxOptions& sandbox, const std::string& program = HOSTLER_DRIVER_HOST,
    std::shared_ptr<ProcessCgroups> cgroups = nullptr) {
  const std::string driver = "fake_intruder";
  const auto found = plugin_host::discover({plugin_host::trusted_copy(driver)}).find(driver);
  if (!found) ADD_FAILURE() << found.error().message;
  auto library = plugin_host::check_library(*found);
  if (!library) ADD_FAILURE() << library.error().message;
  return make_process_set(driver, *std::move(library),
                          {.program = program, .sandbox = sandbox, .cgroups = std::move(cgroups)});
}

/// How the driver says that its attempt ended: "read: done", "read: Permission denied".
inline std::string open(plugin_host::DriverSet& set, const std::string& word,
                        const std::string& path) {
  plugin_host::Awaited<model::SetInfo> opened;
  plugin_host::SetConfig config;
  config.set_id = "s1";
  config.config_json = R"({"do": ")" + word + R"(", "path": ")" + path + "\"}";
  set.open(config, plugin_host::kPatience, opened.done());
  const auto result = opened.get();
  if (result) return "it has opened";
  const std::string& message = result.error().message;
  const auto at = message.find(word + ": ");
  return at == std::string::npos ? message : message.substr(at);
}

inline std::string attempt(const SandboxOptions& sandbox, const std::string& word,
                           const std::string& path) {
  return open(*make_intruder(sandbox), word, path);
}

}  // namespace hostler::driver_host
