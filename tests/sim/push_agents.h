#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/random.h"
#include "core/model/push.h"
#include "core/simulation/timeline.h"
#include "tests/sim/cloud.h"

namespace hostler::sim {

/// The agents of one outside scheduler, on the machines of its pool: they connect some time after
/// the boot, some never, and half of them or all vanish for a while.
class PushAgents {
 public:
  PushAgents(std::uint64_t seed, std::string pool, model::AgentName name, const Timeline& time,
             const Cloud& cloud)
      : seed_(seed), pool_(std::move(pool)), name_(name), time_(time), cloud_(cloud) {}

  /// They cannot be reached for this time; what they run goes on.
  void vanish(bool all, Duration time) {
    all_vanish_ = all;
    vanished_until_ = time_.now() + time;
  }
  /// All that boot connect from now on.
  void end_faults() {
    has_faults_ = false;
    vanished_until_ = Mono::min();
  }
  /// The agents that the scheduler can reach, by name: the first machine of each.
  [[nodiscard]] std::map<std::string, const Machine*> connected() const;
  [[nodiscard]] bool is_its(const Machine& machine) const {
    return machine.request.tags.at(model::tag::kPool) == pool_;
  }
  /// The program runs on the machine, which may be cut off.
  [[nodiscard]] bool is_up(const Machine& machine) const;

 private:
  [[nodiscard]] std::string name_of(const Machine& machine) const;

  const std::uint64_t seed_;
  const std::string pool_;
  const model::AgentName name_;
  const Timeline& time_;
  const Cloud& cloud_;
  Mono vanished_until_ = Mono::min();
  bool all_vanish_ = false, has_faults_ = true;
};

}  // namespace hostler::sim
