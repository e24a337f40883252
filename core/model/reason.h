#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/model/cloud.h"
#include "core/model/job.h"

/// The reasons of events, and why work waits: tables of codes and sentences, as in event.h.
namespace hostler::model {

/// How much an event concerns an admin, rising. The log shows info and higher.
enum class Severity : std::uint8_t {
  kDebug,
  kInfo,
  kWarning,  ///< Something failed; the daemon deals with it.
  kAlarm,    ///< An admin must act: the problem does not end by itself.
};
[[nodiscard]] const char* to_string(Severity severity);

/// Why an instance ends, or is in its state. How work ended: EndReason.
enum class Reason : std::uint8_t {
  kNone,
  kUnknown,  ///< A store of another version holds a code that this program does not know.

  kIdle,
  kDrained,
  kInterrupted,
  kLeaseEnded,
  kUsedUp,
  kKilled,
  kBootingSurplus,
  kStandbySurplus,
  kBeyondMax,
  kOffMenu,
  kGaveWay,
  kExchanged,
  kAbovePriceLimit,
  kDisconnected,
  kTooOld,
  kUnwantedSpot,
  kFailed,
  kUnreachable,
  kBroken,
  kBootTimeout,
  kInitFailed,
  kNotVerified,
  kCloudFailed,
  kCloudStopped,
  kVanished,
  kBelieved,
  kGoneAlready,
  kCreateTimeout,
  kNeverSeen,
  kAbandonedSeen,
  kListedAfterEnd,
  kDuplicate,
  kCannotStop,
  kCannotStart,
  kDoesNotStart,
  kRestart,
  kNotInJournal,
  kMadeSince,
  kTakenOver,

  // The class of a cloud's error.
  kInvalid,
  kUnsupported,
  kNotFound,
  kConflict,
  kAuth,
  kRateLimit,
  kQuota,
  kCapacity,
  kTransient,
  kTimeout,
  kCancelled,
  kKeyMismatch,
  kInternal,
  kMisbehaving,
  kBoot,
  kDriverCrashes,
  kPrice,
};

/// The meaning of one code. One code may be both a Reason and an EndReason.
struct ReasonInfo {
  Reason reason;                     ///< kNone: no instance has it.
  const char* code;                  ///< As stored and shown: "boot_timeout"; "" for kNone.
  Severity severity;                 ///< An event with this reason has at least this severity.
  const char* sentence;              ///< For people, without a full stop.
  EndReason end = EndReason::kNone;  ///< kNone: no work ends so.
};

/// All but kNone and kUnknown.
[[nodiscard]] std::span<const ReasonInfo> all_reasons();
[[nodiscard]] const ReasonInfo& info(Reason reason);
[[nodiscard]] const ReasonInfo& info(EndReason reason);
/// One of all_reasons(); null: this program knows no such code.
[[nodiscard]] const ReasonInfo* find_reason(std::string_view code);
[[nodiscard]] const char* to_string(Reason reason);
/// kNone for an empty text; nullopt: this program knows no such reason of an instance.
[[nodiscard]] std::optional<Reason> parse_reason(std::string_view code);
[[nodiscard]] Reason reason_of(CloudErrorClass cls);

/// Why queued work does not start, or work that has run has not ended.
enum class WaitingCode : std::uint8_t {
  kPlanning,
  kHostComing,
  kAtCeiling,
  kGateShut,
  kNoOffering,
  kReserved,
  kQuota,
  kOutput,
  kDiskFull,
  kHeld,
};

struct WaitingInfo {
  WaitingCode waiting;
  const char* code;
  const char* sentence;
};

[[nodiscard]] std::span<const WaitingInfo> all_waiting_codes();
[[nodiscard]] const char* to_string(WaitingCode waiting);

}  // namespace hostler::model
