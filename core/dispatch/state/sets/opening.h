#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"
#include "core/fleet/instance.h"
#include "core/model/cloud.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// The driver of a set that is in use.
struct SetDriver {
  model::DriverFile file;    ///< Empty: not known yet.
  std::uint64_t number = 0;  ///< Answers of earlier drivers to OpenSet say nothing any more.
};

/// Whether the set is open, and its calls of open: one at a time. An open set may be opened again.
class Opening {
 public:
  [[nodiscard]] bool is_open() const { return open_; }
  /// It was open at some time since the start.
  [[nodiscard]] bool was_open() const { return was_open_; }
  [[nodiscard]] bool is_under_way() const { return under_way_; }
  /// When the call under way, or the last one, was sent.
  [[nodiscard]] Mono sent_at() const { return sent_; }
  [[nodiscard]] bool is_due(Mono now) const { return next() <= now; }
  /// The next call; kNever while the set is open, or while a call is under way.
  [[nodiscard]] Mono next() const { return open_ || under_way_ ? fleet::kNever : at_; }

  /// A closed set is opened now.
  void want_now(Mono now);
  /// The call waits until then, and for a short pause at least.
  void hold_back(Mono until, Mono now);
  void sent(Mono now);
  void answered() { under_way_ = false; }
  /// The set can be used. False: it was open.
  bool opened();
  /// The set cannot be used. False: it was closed.
  bool closed();
  /// The set stays closed; it is opened again after a pause, which is `asked` or longer.
  void failed(std::optional<Duration> asked, Mono now);

 private:
  bool open_ = false, was_open_ = false, under_way_ = false;
  Mono sent_{};  ///< The last call.
  Mono at_ = fleet::kNever;
  std::uint32_t failures_ = 0;  ///< In a row.
};

}  // namespace hostler::dispatch
