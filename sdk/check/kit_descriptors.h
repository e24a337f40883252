#pragma once

#include <fcntl.h>

#include "core/base/files.h"

namespace hostler::check {

/// In the process of a test, descriptors from this one on are the kit's own, those below it the
/// driver's.
inline constexpr int kKitDescriptors = 500;

/// A copy of the descriptor with a number of the kit's. Empty, with errno, if `fd` is empty or no
/// number is free.
inline UniqueFd kit_copy(const UniqueFd& fd) {
  return UniqueFd(fd ? ::fcntl(fd.get(), F_DUPFD_CLOEXEC, kKitDescriptors) : -1);
}

}  // namespace hostler::check
