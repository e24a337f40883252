#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/random.h"
#include "tests/sim/push_agents.h"
#include "tests/sim/push_wire.h"

namespace hostler::sim {

/// An outside scheduler that keeps no promise. It says of its pool what comes into its mind, by two
/// sessions and two principals at once, and sends what has to be refused to the pools of others.
/// After the faults it wants nothing: it tells the truth, or falls silent.
class LyingPusher {
 public:
  /// `other`: the pool of an honest scheduler, of which the name and the present session are known.
  LyingPusher(std::uint64_t seed, std::string pool, std::string other, bool falls_silent,
              PushAgents& agents, Timeline& time, PushWire& wire,
              std::function<const PushTurns::Session&()> victim)
      : random_(seed ^ 0x11a4),
        pool_(std::move(pool)),
        other_(std::move(other)),
        falls_silent_(falls_silent),
        agents_(agents),
        time_(time),
        wire_(wire),
        victim_(std::move(victim)) {}

  void begin() { loop(); }
  void end_faults();

 private:
  void loop();
  void lie();
  void attack();
  void tell_the_truth();
  [[nodiscard]] model::Push any_push();
  void hear(const Result<model::PushAnswer>& result);

  Random random_;
  const std::string pool_, other_;
  const bool falls_silent_;
  PushAgents& agents_;
  Timeline& time_;
  PushWire& wire_;
  const std::function<const PushTurns::Session&()> victim_;
  bool lies_ = true;
  std::uint64_t session_ = 1, sequence_ = 0, seen_ = 0;
};

}  // namespace hostler::sim
