#pragma once

#include <fcntl.h>

#include "core/base/files.h"

namespace hostler::check {

/// In the process of a test, descriptors from this one on are the kit's own, those below it the
/// driver's.
inline constexpr int kKitDescriptors = 500;

/// The same file among the descriptors of the kit; none, with errno, if there is none.
inline UniqueFd among_kits(const UniqueFd& fd) {
  return UniqueFd(fd ? ::fcntl(fd.get(), F_DUPFD_CLOEXEC, kKitDescriptors) : -1);
}

}  // namespace hostler::check
