#include "core/driver_host/parent/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace hostler::driver_host {

Wakeup::Wakeup() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Wakeup::wake() const {
  if (waiter_ == std::this_thread::get_id()) return;
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);  // full: it is awake
}

void Wakeup::clear() const {
  std::uint64_t woken = 0;
  (void)!::read(event_.get(), &woken, sizeof woken);
}

}  // namespace hostler::driver_host
