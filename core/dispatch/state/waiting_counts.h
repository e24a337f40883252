#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/assert.h"
#include "core/demand/queue.h"

namespace hostler::dispatch {

/// How many jobs of each principal wait, by class. Principals are numbered as in Jobs.
class WaitingCounts {
 public:
  struct Of {
    std::uint64_t jobs = 0;
    std::unordered_map<demand::ClassId, std::uint64_t> by_class;  ///< None is 0.
  };

  void add(std::uint32_t principal, demand::ClassId cls) {
    if (principal >= all_.size()) all_.resize(principal + 1);
    ++all_[principal].jobs;
    ++all_[principal].by_class[cls];
  }
  void remove(std::uint32_t principal, demand::ClassId cls) {
    Of& of = all_[principal];
    const auto counted = of.by_class.find(cls);
    HOSTLER_ASSERT(counted != of.by_class.end(), "a job that no longer waits was counted");
    --of.jobs;
    if (--counted->second == 0) of.by_class.erase(counted);
  }
  [[nodiscard]] const Of& of(std::uint32_t principal) const {
    static const Of none;
    return principal < all_.size() ? all_[principal] : none;
  }

 private:
  std::vector<Of> all_;
};

}  // namespace hostler::dispatch
