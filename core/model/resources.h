#pragma once

#include <compare>
#include <cstdint>

#include "core/model/vcpus.h"

namespace hostler::model {

/// What a host has or work needs. Never negative; sums saturate at what an int64 can hold by the
/// limits that config and job readers set (2^20 vcpus, 2^50 bytes).
struct Resources {
  Vcpus vcpus;
  std::int32_t gpus = 0;
  std::int64_t ram = 0;      ///< bytes
  std::int64_t scratch = 0;  ///< bytes of disk
  std::int32_t slots = 0;    ///< Of outside schedulers: see PushedPolicy.

  friend auto operator<=>(const Resources&, const Resources&) = default;

  [[nodiscard]] bool fits_in(const Resources& room) const {
    return vcpus <= room.vcpus && gpus <= room.gpus && ram <= room.ram && scratch <= room.scratch &&
           slots <= room.slots;
  }
  Resources& operator+=(const Resources& o) {
    vcpus += o.vcpus, gpus += o.gpus, ram += o.ram, scratch += o.scratch, slots += o.slots;
    return *this;
  }
  Resources& operator-=(const Resources& o) {
    vcpus -= o.vcpus, gpus -= o.gpus, ram -= o.ram, scratch -= o.scratch, slots -= o.slots;
    return *this;
  }
  friend Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend Resources operator-(Resources a, const Resources& b) { return a -= b; }
};

}  // namespace hostler::model
