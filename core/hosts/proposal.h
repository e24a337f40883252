#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/time.h"

namespace hostler::hosts {

/// The command that a link has proposed to run on its host: one at a time, and for one connection.
/// Hosts thread only.
class CommandProposal {
 public:
  using Clock = std::chrono::steady_clock;

  /// `patience`: how long it waits for its answer.
  explicit CommandProposal(Duration patience) : patience_(patience) {}

  /// Makes one; returns its number. Only if none stands.
  std::uint64_t make(Clock::time_point now) {
    state_ = State::kProposed;
    made_ = now;
    return ++number_;
  }
  /// It waits for its answer, or its command runs.
  [[nodiscard]] bool stands(Clock::time_point now) const {
    return state_ == State::kRuns || (state_ == State::kProposed && now - made_ < patience_);
  }
  /// The answer has come: whether the command may run. False: it is too late, or answers another
  /// one.
  [[nodiscard]] bool begin(std::uint64_t number, Clock::time_point now) {
    if (state_ != State::kProposed || number != number_ || !stands(now)) return false;
    state_ = State::kRuns;
    return true;
  }
  void ended(std::uint64_t number) {
    if (number == number_) state_ = State::kNone;
  }
  /// The connection that it was for has ended.
  void drop() { state_ = State::kNone; }

 private:
  enum class State : std::uint8_t { kNone, kProposed, kRuns };
  const Duration patience_;
  State state_ = State::kNone;
  std::uint64_t number_ = 0;  ///< Of the last one.
  Clock::time_point made_;
};

}  // namespace hostler::hosts
