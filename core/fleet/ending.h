#pragma once

#include <cstdint>
#include <utility>

#include "core/base/time.h"
#include "core/fleet/drain.h"

namespace hostler::fleet {

/// The end of an instance: its drain before that, and destroys while it is kTerminating. A restart
/// forgets both.
class Ending {
 public:
  Drain drain;

  /// It begins to end, perhaps again: no answer to a destroy counts yet.
  void begin() { settled_ = false; }
  void accepted(Mono now) {
    settled_ = true;
    ++accepted_;
    accepted_at_ = now;
  }
  /// The cloud does not know the instance, or will never destroy it.
  void set_futile() { settled_ = true; }
  /// A list that is not older than `as_of` shows the instance as if nothing had been asked. True:
  /// that is to be reported, now and never again.
  [[nodiscard]] bool ignored(Mono as_of) {
    if (accepted_ < kDestroysIgnored || as_of <= accepted_at_) return false;
    return !std::exchange(ignored_, true);
  }

  /// Lists may decide that it is gone: no destroy is to be sent again first.
  [[nodiscard]] bool is_settled() const { return settled_; }
  /// It was reported that the cloud accepts destroys and does nothing.
  [[nodiscard]] bool is_ignored() const { return ignored_; }
  [[nodiscard]] std::uint32_t accepted_destroys() const { return accepted_; }

 private:
  static constexpr std::uint32_t kDestroysIgnored = 3;  ///< Accepted ones, until it is reported.

  bool settled_ = false;
  bool ignored_ = false;
  std::uint32_t accepted_ = 0;
  Mono accepted_at_;  ///< The last one.
};

}  // namespace hostler::fleet
