#pragma once

#include <map>
#include <utility>

#include "core/base/time.h"
#include "core/model/ids.h"

namespace hostler::dispatch {

/// Attempts that a host was told to run their interruption command for. A restart forgets them.
class InterruptionsTold {
 public:
  struct Telling {
    bool is_due = false;    ///< The attempt is to be told now.
    bool is_first = false;  ///< It was never told before.
  };
  /// The attempt is told of the interruption, if it does not know of it on this connection and
  /// with this time.
  [[nodiscard]] Telling tell(const model::AttemptId& attempt) {
    const auto [known, is_first] = told_.try_emplace(attempt, false);
    return {!std::exchange(known->second, true), is_first};
  }
  /// A new connection stands: each attempt is told again.
  void tell_again() {
    for (auto& [attempt, told] : told_) told = false;
  }
  /// When the host is interrupted. Another time than before is told to each attempt.
  void set_time(Wall at) {
    if (std::exchange(at_, at) != at) tell_again();
  }
  /// No interruption is announced.
  void end() { told_.clear(); }

 private:
  std::map<model::AttemptId, bool> told_;  ///< True: on this connection, with this time.
  Wall at_;
};

}  // namespace hostler::dispatch
