#pragma once

#include <atomic>
#include <functional>

namespace hostler::check {

/// What the process of a test and the kit share beside its findings.
struct KeeperState {
  static constexpr int kNoStatus = -1;
  std::atomic<int> status{kNoStatus};  ///< As waitpid() says it, once the test has ended.
  std::atomic<bool> stops{false};      ///< The kit wants the test to clean up and return.
  std::atomic<bool> has_namespace{false};
};

/// The body of the process between the kit and a test: starts `test` in a further process, waits
/// for it, and ends all that it has left behind. Ends in the same way on SIGTERM, and when the kit
/// dies. Does not return.
[[noreturn]] void keep(KeeperState& state, const std::function<void()>& test);

}  // namespace hostler::check
