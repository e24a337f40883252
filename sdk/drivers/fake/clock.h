#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <hostler/driver.hpp>

namespace hostler::fake {

/// The time of a cloud, in milliseconds since it was made. Threads: any.
class Clock {
 public:
  /// `of_steps`: time passes by calls only, `step_ms` with each. Else it is the machine's.
  Clock(bool of_steps, std::int64_t step_ms) : of_steps_(of_steps), step_ms_(step_ms) {}

  /// The time of a call that begins now.
  std::int64_t begin_call() {
    if (!of_steps_) return now();
    return steps_ += step_ms_;
  }
  /// A call takes so long. Throws as driver::pause() does; a clock of steps waits for nobody.
  void pass(hostler_op* op, std::int64_t ms) {
    if (of_steps_)
      steps_ += ms;
    else if (ms > 0)
      driver::pause(op, std::chrono::milliseconds(ms));
  }
  [[nodiscard]] std::int64_t now() const {
    if (of_steps_) return steps_;
    return std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - began_).count();
  }
  /// A time of this clock, in nanoseconds since 1970. A clock of steps begins in 2026.
  [[nodiscard]] std::int64_t unix_ns(std::int64_t ms) const {
    constexpr std::int64_t kBeginOfSteps = 1'767'225'600'000;
    return ((of_steps_ ? kBeginOfSteps : began_unix_ms_) + ms) * 1'000'000;
  }

 private:
  using Steady = std::chrono::steady_clock;

  const bool of_steps_;
  const std::int64_t step_ms_;
  const Steady::time_point began_ = Steady::now();
  const std::int64_t began_unix_ms_ = std::chrono::duration_cast<std::chrono::milliseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count();
  std::atomic<std::int64_t> steps_ = 0;
};

}  // namespace hostler::fake
