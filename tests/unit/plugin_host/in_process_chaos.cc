#include "core/plugin_host/in_process_set.h"
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {

std::unique_ptr<DriverSet> make_set(const std::string& driver, const ChaosOptions& options) {
  return make_in_process_set(
      load_fake(driver),
      {.grace = options.grace, .close_max = options.close_max, .set = options.set});
}

}  // namespace hostler::plugin_host
