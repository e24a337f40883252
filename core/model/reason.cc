#include "core/model/reason.h"

#include <array>
#include <cstddef>

namespace hostler::model {
namespace {

using enum Severity;

/// By value of Reason; then the ends of work. The codes are stored and part of the API: they never
/// change.
constexpr std::array kReasons{
    ReasonInfo{Reason::kNone, "", kDebug, ""},
    ReasonInfo{Reason::kUnknown, "unknown", kDebug, "a reason of another version of this program"},

    ReasonInfo{Reason::kIdle, "idle", kDebug, "no work used the instance for its idle timeout"},
    ReasonInfo{Reason::kDrained, "drained", kDebug, "the instance was drained, and is empty"},
    ReasonInfo{Reason::kInterrupted, "interrupted", kDebug, "the cloud takes the instance back",
               EndReason::kInterrupted},
    ReasonInfo{Reason::kLeaseEnded, "lease_ended", kDebug,
               "a lease of the instance has ended, and its holder may have changed the host"},
    ReasonInfo{Reason::kUsedUp, "used_up", kDebug,
               "the instance was used as often as its pool allows, and is empty"},
    ReasonInfo{Reason::kKilled, "killed", kDebug, "an admin killed the instance"},
    ReasonInfo{Reason::kBootingSurplus, "booting_surplus", kDebug,
               "no work needs the booting instance any more"},
    ReasonInfo{Reason::kStandbySurplus, "standby_surplus", kDebug,
               "more instances are switched off than the pool keeps"},
    ReasonInfo{Reason::kBeyondMax, "beyond_max", kDebug,
               "the pool has more instances than its max, and it is empty"},
    ReasonInfo{Reason::kOffMenu, "off_menu", kDebug,
               "the pool no longer has the type of the instance, and it is empty"},
    ReasonInfo{Reason::kGaveWay, "gave_way", kDebug,
               "waiting work needs the room of the instance, which fits none of it"},
    ReasonInfo{Reason::kExchanged, "exchanged", kDebug,
               "a cheaper instance replaces it in the minimum or standby of the pool"},
    ReasonInfo{Reason::kAbovePriceLimit, "above_price_limit", kWarning,
               "the price of the idle instance rose above a cap or a ceiling"},
    ReasonInfo{Reason::kDisconnected, "disconnected", kWarning,
               "the scheduler of the pool has had no agent on the host for too long"},
    ReasonInfo{Reason::kTooOld, "too_old", kDebug,
               "the instance is older than the pool lets it be, and nothing runs on it"},
    ReasonInfo{Reason::kUnwantedSpot, "unwanted_spot", kDebug,
               "no work needs the unfulfilled spot request any more"},
    ReasonInfo{Reason::kFailed, "failed", kWarning,
               "the instance is stopped and cannot be switched on"},
    ReasonInfo{Reason::kUnreachable, "unreachable", kWarning,
               "the host was unreachable for longer than the probe timeout"},
    ReasonInfo{Reason::kBroken, "broken", kWarning, "a check of the host failed"},
    ReasonInfo{Reason::kBootTimeout, "boot_timeout", kWarning,
               "the host was not ready within the boot timeout"},
    ReasonInfo{Reason::kInitFailed, "init_failed", kWarning,
               "the init command of the new host failed"},
    ReasonInfo{Reason::kNotVerified, "not_verified", kWarning,
               "the adopted host did not prove its key within the probe timeout"},
    ReasonInfo{Reason::kCloudFailed, "cloud_failed", kWarning,
               "the cloud says that the instance failed"},
    ReasonInfo{Reason::kCloudStopped, "cloud_stopped", kWarning,
               "the cloud stopped the instance, although hostler did not ask for it"},
    ReasonInfo{Reason::kVanished, "vanished", kWarning,
               "lists omit the instance, although hostler did not destroy it"},
    ReasonInfo{Reason::kBelieved, "believed", kWarning,
               "an admin said that the list without the instance is right"},
    ReasonInfo{Reason::kGoneAlready, "gone_already", kWarning,
               "the create found an instance of its key that is gone already"},
    ReasonInfo{Reason::kCreateTimeout, "create_timeout", kWarning,
               "the outcome of the create stayed unknown"},
    ReasonInfo{Reason::kNeverSeen, "never_seen", kDebug,
               "the create was given up, and no list has shown the instance since"},
    ReasonInfo{Reason::kAbandonedSeen, "abandoned_seen", kWarning,
               "the instance appeared after its create was given up"},
    ReasonInfo{Reason::kListedAfterEnd, "listed_after_end", kWarning,
               "the cloud lists an instance that was destroyed before"},
    ReasonInfo{Reason::kDuplicate, "duplicate", kWarning,
               "the cloud made two instances of one create"},
    ReasonInfo{Reason::kCannotStop, "cannot_stop", kWarning,
               "the cloud never stops such an instance"},
    ReasonInfo{Reason::kCannotStart, "cannot_start", kWarning,
               "the cloud never starts such an instance"},
    ReasonInfo{Reason::kDoesNotStart, "does_not_start", kWarning,
               "the instance was switched on, and was off again, several times"},
    ReasonInfo{Reason::kRestart, "restart", kDebug, "the daemon was started"},
    ReasonInfo{Reason::kNotInJournal, "not_in_journal", kWarning,
               "the cloud lists an instance of this daemon that its journal does not have"},
    ReasonInfo{Reason::kMadeSince, "made_since", kWarning,
               "the instance was made after the backup that the site was restored from"},
    ReasonInfo{Reason::kTakenOver, "taken_over", kInfo,
               "the instance set was taken over from another daemon"},

    ReasonInfo{Reason::kInvalid, "invalid", kDebug, "the cloud says that the request is invalid"},
    ReasonInfo{Reason::kUnsupported, "unsupported", kDebug, "the cloud does not support the call"},
    ReasonInfo{Reason::kNotFound, "not_found", kDebug, "the cloud does not know the instance"},
    ReasonInfo{Reason::kConflict, "conflict", kWarning,
               "the cloud has another request of the same key"},
    ReasonInfo{Reason::kAuth, "auth", kWarning, "the cloud refused the credentials"},
    ReasonInfo{Reason::kRateLimit, "rate_limit", kDebug, "there were too many calls"},
    ReasonInfo{Reason::kQuota, "quota", kDebug, "the account's quota is used up"},
    ReasonInfo{Reason::kCapacity, "capacity", kDebug, "the cloud has no such machine to give now"},
    ReasonInfo{Reason::kTransient, "transient", kDebug, "the cloud failed for the moment"},
    ReasonInfo{Reason::kTimeout, "timeout", kDebug, "the cloud did not answer in time"},
    ReasonInfo{Reason::kCancelled, "cancelled", kDebug, "it was cancelled", EndReason::kCancelled},
    ReasonInfo{Reason::kKeyMismatch, "key_mismatch", kWarning,
               "the cloud says that the host's key is another one"},
    ReasonInfo{Reason::kInternal, "internal", kWarning, "the driver failed"},
    ReasonInfo{Reason::kMisbehaving, "misbehaving", kWarning,
               "the driver broke a rule of the driver interface"},
    ReasonInfo{Reason::kBoot, "boot", kWarning, "new hosts do not come up"},
    ReasonInfo{Reason::kDriverCrashes, "driver_crashes", kWarning,
               "the driver died in such a call, twice in a row"},
    ReasonInfo{Reason::kPrice, "price", kAlarm,
               "the cloud's price is more than 100 times the configured one"},

    ReasonInfo{Reason::kNone, "exit", kDebug, "the job's process exited", EndReason::kExit},
    ReasonInfo{Reason::kNone, "signal", kDebug, "a signal ended the job's process",
               EndReason::kSignal},
    ReasonInfo{Reason::kNone, "time_limit", kDebug, "the job's time limit passed",
               EndReason::kTimeLimit},
    ReasonInfo{Reason::kNone, "host_lost", kInfo, "the host was lost while work was on it",
               EndReason::kHostLost},
    ReasonInfo{Reason::kNone, "start_failed", kDebug, "the job's process did not start",
               EndReason::kStartFailed},
    ReasonInfo{Reason::kNone, "input_failed", kDebug,
               "the job's inputs could not be brought to the host", EndReason::kInputFailed},
    ReasonInfo{Reason::kNone, "output_lost", kInfo, "the job's output could not be fetched whole",
               EndReason::kOutputLost},
    ReasonInfo{Reason::kNone, "supervision_lost", kInfo,
               "the end of the job's process was not observed", EndReason::kSupervisionLost},
    ReasonInfo{Reason::kNone, "start_failures", kInfo,
               "as many hosts as the work allows could not start it, or could not be granted",
               EndReason::kStartFailures},
    ReasonInfo{Reason::kNone, "returned", kDebug, "the holder gave the host back",
               EndReason::kReturned},
    ReasonInfo{Reason::kNone, "term", kDebug, "the term of the lease was over", EndReason::kTerm},
    ReasonInfo{Reason::kNone, "wait_max", kDebug,
               "the lease was not granted as soon as its holder needed it", EndReason::kWaitMax},
};

constexpr std::array kWaitingCodes{
    WaitingInfo{WaitingCode::kPlanning, "planning",
                "a later plan looks at the work; the reason says when, if it is known"},
    WaitingInfo{WaitingCode::kHostComing, "host_coming",
                "a host for the work boots or is asked for"},
    WaitingInfo{WaitingCode::kAtCeiling, "at_ceiling", "a ceiling of the site allows no more"},
    WaitingInfo{
        WaitingCode::kGateShut, "gate_shut",
        "the cloud refused the hosts that fit, they do not come up, or the driver dies as it "
        "creates them: creates of them are held back"},
    WaitingInfo{WaitingCode::kNoOffering, "no_offering", "nothing on offer fits the work"},
    WaitingInfo{WaitingCode::kReserved, "reserved", "a host is reserved for the work"},
    WaitingInfo{WaitingCode::kQuota, "quota",
                "work of its user runs as much as a limit of the user allows"},
    WaitingInfo{WaitingCode::kOutput, "output", "the job has ended, and its output is fetched"},
    WaitingInfo{WaitingCode::kDiskFull, "disk_full",
                "the job has ended, and its output waits on its host: the disk of the state folder "
                "has no room for it"},
    WaitingInfo{WaitingCode::kHeld, "held",
                "the work may have run after the backup was made that the site was restored from: "
                "an admin releases or cancels it"},
};

constexpr std::size_t kInstanceReasons = static_cast<std::size_t>(Reason::kPrice) + 1;

/// By value of EndReason: the index of its row.
constexpr auto kEndRows = [] {
  std::array<std::size_t, static_cast<std::size_t>(EndReason::kInterrupted) + 1> out{};
  for (std::size_t i = 0; i < kReasons.size(); ++i)
    if (kReasons[i].end != EndReason::kNone) out[static_cast<std::size_t>(kReasons[i].end)] = i;
  return out;
}();

constexpr bool reasons_are_in_order() {
  for (std::size_t i = 0; i < kReasons.size(); ++i)
    if (static_cast<std::size_t>(kReasons[i].reason) != (i < kInstanceReasons ? i : 0))
      return false;
  for (std::size_t end = 1; end < kEndRows.size(); ++end)
    if (kEndRows[end] == 0) return false;
  for (std::size_t i = 0; i < kWaitingCodes.size(); ++i)
    if (static_cast<std::size_t>(kWaitingCodes[i].waiting) != i) return false;
  // All ends but kNone have a row of their own; kCancelled and kInterrupted have that of the
  // Reason.
  return kInstanceReasons + kEndRows.size() - 3 == kReasons.size() &&
         static_cast<std::size_t>(WaitingCode::kHeld) + 1 == kWaitingCodes.size();
}
static_assert(reasons_are_in_order());

}  // namespace

const char* to_string(Severity severity) {
  switch (severity) {
    case Severity::kDebug:
      return "debug";
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kAlarm:
      return "alarm";
  }
  return "?";
}

std::span<const ReasonInfo> all_reasons() { return std::span(kReasons).subspan(2); }

const ReasonInfo& info(Reason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

const ReasonInfo& info(EndReason reason) {
  return kReasons[kEndRows[static_cast<std::size_t>(reason)]];
}

const ReasonInfo* find_reason(std::string_view code) {
  for (const ReasonInfo& one : all_reasons())
    if (code == one.code) return &one;
  return nullptr;
}

const char* to_string(Reason reason) { return info(reason).code; }

std::optional<Reason> parse_reason(std::string_view code) {
  if (code.empty()) return Reason::kNone;
  const ReasonInfo* found = find_reason(code);
  if (found == nullptr || found->reason == Reason::kNone) return std::nullopt;
  return found->reason;
}

Reason reason_of(CloudErrorClass cls) {
  switch (cls) {
    case CloudErrorClass::kInvalid:
      return Reason::kInvalid;
    case CloudErrorClass::kUnsupported:
      return Reason::kUnsupported;
    case CloudErrorClass::kNotFound:
      return Reason::kNotFound;
    case CloudErrorClass::kConflict:
      return Reason::kConflict;
    case CloudErrorClass::kAuth:
      return Reason::kAuth;
    case CloudErrorClass::kRateLimit:
      return Reason::kRateLimit;
    case CloudErrorClass::kQuota:
      return Reason::kQuota;
    case CloudErrorClass::kCapacity:
      return Reason::kCapacity;
    case CloudErrorClass::kTransient:
      return Reason::kTransient;
    case CloudErrorClass::kTimeout:
      return Reason::kTimeout;
    case CloudErrorClass::kCancelled:
      return Reason::kCancelled;
    case CloudErrorClass::kKeyMismatch:
      return Reason::kKeyMismatch;
    case CloudErrorClass::kInternal:
      return Reason::kInternal;
    case CloudErrorClass::kMisbehaving:
      return Reason::kMisbehaving;
    case CloudErrorClass::kBoot:
      return Reason::kBoot;
    case CloudErrorClass::kDriverCrashes:
      return Reason::kDriverCrashes;
    case CloudErrorClass::kPrice:
      return Reason::kPrice;
  }
  return Reason::kUnknown;
}

std::span<const WaitingInfo> all_waiting_codes() { return kWaitingCodes; }

const char* to_string(WaitingCode waiting) {
  return kWaitingCodes[static_cast<std::size_t>(waiting)].code;
}

}  // namespace hostler::model
