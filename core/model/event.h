#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/model/reason.h"

/// The events of the ledger: one table of codes, severities and sentences. The store, the log, the
/// metrics, the API and the documents read it; no other place lists events.
namespace hostler::model {

enum class Event : std::uint8_t {
  kUnknown,  ///< A store of another version holds a code that this program does not know.

  // Of work; the first ones are of leases too.
  kSubmitted,
  kStarting,
  kQueuedAgain,
  kFoundAgain,
  kHeld,
  kReleased,
  kTakenOver,
  kCancelRequested,
  kCollecting,
  kSucceeded,
  kFailed,
  kCancelled,
  kOutputsRemoved,
  kInterrupted,
  kInterruptionCommand,
  kUnexpectedAttempt,

  // Leases.
  kLetGo,
  kGranting,
  kGranted,
  kRenewed,
  kEnding,
  kEnded,

  // Of instances.
  kCreateIntended,
  kCreated,
  kCreateRefused,
  kCreateUnknown,
  kAbandoned,
  kAdopted,
  kDuplicate,
  kVerified,
  kReady,
  kReachable,
  kUnreachable,
  kBroken,
  kInitFailed,
  kConsole,
  kCommandStarted,
  kCommandEnded,
  kHostKeyAlarm,
  kCardAppeared,
  kCardVanished,
  kCardFailed,
  kCardHealthy,
  kCardsChanged,
  kCardsUnread,
  kCardsReadAgain,
  kCardsUnsteady,
  kKept,
  kUnknownNumbers,
  kKeyRotated,
  kKeyChanged,
  kRotationPutOff,
  kRotationNone,
  kIdleBehavior,
  kInterruption,
  kCordoned,
  kInterruptionOver,
  kDrainBegan,
  kDrainCommandFailed,
  kDrainOver,
  kDrainTimedOut,
  kAgentReported,
  kAgentNeverCame,
  kStopped,
  kSwitchedOff,
  kOff,
  kSwitchedOn,
  kStartRefused,
  kTerminating,
  kDestroyRefused,
  kDestroyIgnored,
  kTagsFailed,
  kTagsRepaired,
  kSetMissing,
  kUnexpectedAttempts,
  kUnlisted,
  kContradicted,
  kVanished,
  kListedAgain,
  kGone,

  // Of pools.
  kBoundUnknown,
  kBoundKnown,
  kBoundChanged,
  kBoundAtCeiling,
  kPusherChanged,
  kPoolTick,
  kPushTooOld,
  kPoolAbandonSoon,
  kPoolAbandoned,

  // Of instance sets, gates and the site.
  kOpened,
  kOpenFailed,
  kAccountDiffers,
  kAccountAccepted,
  kForeignOwner,
  kForeignOwnerLeft,
  kListFlawed,
  kAdopting,
  kListDoubted,
  kListUnchecked,
  kListTrusted,
  kLookUpUnsupported,
  kPartition,
  kPartitionEnded,
  kCannotStop,
  kRamLearned,
  kGpusLearned,
  kOfferingsChanged,
  kWatchFailed,
  kNoticesIgnored,
  kOfferingsFailed,
  kPricesUnknown,
  kDriverCrashed,
  kCallHeldBack,
  kNoDescriptors,
  kImageChanged,
  kImageLost,
  kImageFoundAgain,
  kLeftoversFound,
  kLeftoverDestroying,
  kLeftoverRefused,
  kLeftoversUnlisted,
  kGateShut,
  kGateOpened,
  kStarted,
  kRestored,
  kPolicyChanged,
  kDiskFull,
  kDiskHasRoom,
};

/// The meaning of a ledger record's reason_code.
enum class ReasonCode : std::uint8_t {
  kNone,    ///< Empty.
  kReason,  ///< The code of a Reason or an EndReason, or empty.
  kData,    ///< A name, an id or a key, as the event's sentence says; or empty.
};

struct EventInfo {
  Event event;
  const char* code;     ///< As stored and shown: "create_intended".
  const char* subject;  ///< "work" (of any kind), "job", "attempt", "lease", "instance", "pool",
                        ///< "set", "gate" or "site".
  Severity severity;    ///< Of the event without its reason, which may raise it.
  ReasonCode reason_code;
  const char* sentence;  ///< For people, without a full stop.
};

/// All but kUnknown, by subject.
[[nodiscard]] std::span<const EventInfo> all_events();
[[nodiscard]] const EventInfo& info(Event event);
[[nodiscard]] const char* to_string(Event event);
/// nullopt: this program knows no such code.
[[nodiscard]] std::optional<Event> parse_event(std::string_view code);

/// The severity of an event with the reason code of its record: the higher of the two.
[[nodiscard]] Severity severity_of(Event event, std::string_view reason_code);

}  // namespace hostler::model
