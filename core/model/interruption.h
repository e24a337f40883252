#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/base/time.h"

/// Notices that a cloud takes an instance back, and what is known of them.
namespace hostler::model {

enum class InterruptionAction : std::uint8_t {
  kNotSaid,  ///< Counts as kTerminate.
  kTerminate,
  kStop,
  kSuspend,
  kRestart,
  kWithdrawn,  ///< The earlier notice is cancelled.
};
/// "not_said", "terminate", ...
const char* to_string(InterruptionAction action);

/// A notice of a driver.
struct Interruption {
  std::string instance_id, text;  ///< The text is fit to print.
  Wall at;                        ///< 0: soon.
  InterruptionAction action = InterruptionAction::kNotSaid;
};

/// Who gave a notice. One of them withdraws only what it has given itself.
enum class NoticeSource : std::uint8_t {
  kDriver,  ///< Its extension for interruptions.
  kList,    ///< The lists of the set.
  kHost,    ///< The pool's `interruption_check`, which runs on the host.
};
inline constexpr std::size_t kNoticeSources = 3;
/// "driver", "list" or "host".
const char* to_string(NoticeSource source);

/// A notice holds for this time after the interruption that it announces, or if it names no time,
/// after it came.
inline constexpr Duration kNoticeHolds = std::chrono::minutes(10);

/// A notice that holds.
struct Notice {
  NoticeSource source{};
  InterruptionAction action = InterruptionAction::kNotSaid;  ///< Never kWithdrawn.
  Wall noticed;      ///< When the first notice of this action and this time came.
  Wall at;           ///< When the instance is interrupted; 0: soon.
  std::string text;  ///< The cloud's words; fit to print.

  /// It holds until then.
  [[nodiscard]] Wall holds_until() const { return (at.us != 0 ? at : noticed) + kNoticeHolds; }
  friend bool operator==(const Notice&, const Notice&) = default;
};
/// One sentence without a full stop: "its cloud will terminate it at 2026-...".
std::string to_string(const Notice& notice);

}  // namespace hostler::model
