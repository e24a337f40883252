#include "core/plugin_host/connection.h"

#include "core/plugin_host/host_table.h"

namespace hostler::plugin_host {

hostler_status Connection::open(const hostler_set_config& config, hostler_op* op) {
  hostler_set* opened = nullptr;
  const auto status = driver().set_open(&host_table(), &config, op, &opened);
  if (status == HOSTLER_OK && opened != nullptr) {
    hostler_set* none = nullptr;
    // An abandoned open may have set another one meanwhile: one set is enough.
    if (!set.compare_exchange_strong(none, opened)) driver().set_close(opened);
  }
  return status;
}

}  // namespace hostler::plugin_host
