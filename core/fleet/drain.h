#pragma once

#include <cstdint>

#include "core/base/time.h"
#include "core/fleet/deadline.h"

namespace hostler::fleet {

/// What is done before a host goes because of its pool's bounds. The record says when that began
/// and whether it is over; a restart forgets the rest, and so does not know how the command has
/// ended.
class Drain {
 public:
  /// It began then, and is under way until `until`, at the latest. `has_command`: the end of a
  /// command is to come.
  void begin(Wall began, Mono until, bool has_command) {
    until_ = until;
    quiet_after_ = began;
    command_ = has_command ? Command::kRuns : Command::kNone;
  }
  void command_ended(bool good, Wall now) {
    command_ = good ? Command::kGood : Command::kFailed;
    quiet_after_ = now;
  }
  void end() { until_ = kNever; }

  [[nodiscard]] Mono deadline() const { return until_; }
  /// A measurement of then or before says nothing of quiet: its command had not ended, or it had
  /// not begun.
  [[nodiscard]] Wall quiet_after() const { return quiet_after_; }
  /// Its own command runs: it is not asked whether the host is quiet.
  [[nodiscard]] bool command_runs() const { return command_ == Command::kRuns; }
  [[nodiscard]] bool command_succeeded() const { return command_ == Command::kGood; }
  [[nodiscard]] bool command_failed() const { return command_ == Command::kFailed; }

 private:
  enum class Command : std::uint8_t { kNone, kRuns, kGood, kFailed };
  Mono until_ = kNever;
  Wall quiet_after_;
  Command command_ = Command::kNone;
};

}  // namespace hostler::fleet
