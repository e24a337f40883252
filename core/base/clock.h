#pragma once

#include <ctime>

#include "core/base/time.h"

namespace hostler {

/// The one place that reads the clocks for decisions and deadlines. Pure folders get them as
/// arguments.
inline Now read_clocks() {
  timespec boot{};
  timespec wall{};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  clock_gettime(CLOCK_REALTIME, &wall);
  const auto ns = [](const timespec& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  return {Mono(Duration(ns(boot))), Wall{ns(wall) / 1000}};
}

}  // namespace hostler
