#pragma once

#include <chrono>

#include "core/base/time.h"

namespace hostler::work {

/// So long after the beginning of a test.
inline Now at(Duration since) {
  return {Mono(std::chrono::hours(100) + since), Wall{1'700'000'000'000'000} + since};
}

}  // namespace hostler::work
