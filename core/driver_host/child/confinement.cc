#include "core/driver_host/child/confinement.h"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace hostler::driver_host {

Result<std::string> confine(const std::string& level) {
  const rlimit none{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &none);
  if (level == "none") return std::string("none");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(Errc::kInternal, "the driver's process cannot give up privileges of programs");
  return std::string("none");
}

}  // namespace hostler::driver_host
