#include "core/driver_host/parent/process_set.h"
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {

std::unique_ptr<DriverSet> make_set(const std::string& driver, const ChaosOptions& options) {
  const auto found = discover({trusted_copy(driver)}).find(driver);
  if (!found) ADD_FAILURE() << found.error().message;
  auto library = check_library(*found);
  if (!library) ADD_FAILURE() << library.error().message;
  driver_host::ProcessOptions process;
  process.program = options.program.empty() ? HOSTLER_DRIVER_HOST : options.program;
  process.hang = options.hang;
  process.grace = options.grace;
  process.set = options.set;
  process.sandbox.readable = {options.readable.string()};
  return driver_host::make_process_set(driver, *std::move(library), process);
}

}  // namespace hostler::plugin_host
