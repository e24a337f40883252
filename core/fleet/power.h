#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/assert.h"
#include "core/base/time.h"

namespace hostler::fleet {

/// A host that is switched on again and again, and off again each time, is ended after so many.
inline constexpr std::uint32_t kWakesInVainMax = 3;

/// Whether the machine of an instance is on, as far as calls and lists say. A restart forgets it.
class Power {
 public:
  /// It was switched, or a call that did so has ended, or its host answers: the power state of
  /// lists until now is ignored.
  void changed(Mono now) {
    changed_at_ = std::max(changed_at_, now);
    off_since_.reset();
  }
  /// Its host answers: it is on, and was not switched on in vain.
  void came_up(Mono now) {
    changed(now);
    wakes_in_vain_ = 0;
  }
  void switched_on(Mono now) {
    changed(now);
    ++wakes_in_vain_;
  }
  /// It was not switched on after all, and is off as it was.
  void start_refused() {
    HOSTLER_ASSERT(wakes_in_vain_ > 0, "a start that is refused was sent");
    --wakes_in_vain_;
    seen_off_ = true;
  }
  /// It counts as off; no list has shown that yet.
  void went_off() { seen_off_ = false; }
  /// A list shows it off. True: the first one.
  [[nodiscard]] bool shown_off() { return !std::exchange(seen_off_, true); }
  /// A list shows it off, or failed, although work is on it. Its data are not older than `as_of`.
  /// Returns the same of the first list that has shown this, without a doubt since.
  Mono shown_off_at_work(Mono as_of) {
    if (!off_since_) off_since_ = as_of;
    return *off_since_;
  }
  /// It may be on, or its host answers: lists prove anew that it is off.
  void doubt_off() { off_since_.reset(); }

  [[nodiscard]] bool is_outdated(Mono list) const { return list <= changed_at_; }
  /// kStopped: a list has shown it off too, so it can be switched on.
  [[nodiscard]] bool was_seen_off() const { return seen_off_; }
  /// How often it was switched on since it was last ready.
  [[nodiscard]] std::uint32_t wakes_in_vain() const { return wakes_in_vain_; }

 private:
  Mono changed_at_ = Mono::min();
  bool seen_off_ = false;
  std::optional<Mono> off_since_;  ///< Work is on it: the first of the lists that show it off.
  std::uint32_t wakes_in_vain_ = 0;
};

}  // namespace hostler::fleet
