#pragma once

#include <algorithm>
#include <optional>

#include "core/base/time.h"
#include "core/fleet/deadline.h"

namespace hostler::fleet {

/// The agent of an outside scheduler on the host, as far as time decides: the record has what
/// pushes say of it. Its times are monotonic, so that a clock that is set does not change them.
class OutsideAgent {
 public:
  /// The report in the record has changed then, or the host was switched on and has none.
  void changed(Mono when) { since_ = when; }
  /// Pushes list it.
  void listed() {
    until_ = kNever;
    lost_since_.reset();
  }
  /// They do not: the host counts as coming until then.
  void await(Mono until) {
    until_ = until;
    lost_since_.reset();
  }
  /// Nor is it awaited any more. If it is lost already, the later time holds.
  void lost(Mono since) {
    until_ = kNever;
    lost_since_ = std::max(since, lost_since_.value_or(since));
  }
  /// The host goes or is off.
  void end() { *this = {}; }

  /// Unset: the record has had no report in this life of the host.
  [[nodiscard]] std::optional<Mono> since() const { return since_; }
  /// When a host that counts as coming does so no more.
  [[nodiscard]] Mono deadline() const { return until_; }
  [[nodiscard]] std::optional<Mono> lost_since() const { return lost_since_; }
  /// No push lists it, and one may: it is awaited, or lost.
  [[nodiscard]] bool may_come() const { return until_ != kNever || lost_since_; }

 private:
  std::optional<Mono> since_, lost_since_;
  Mono until_ = kNever;
};

}  // namespace hostler::fleet
