#include "core/model/event.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hostler::model {
namespace {

using enum Severity;
using Holds = ReasonCode;

constexpr const char *kWork = "work", *kJob = "job", *kAttempt = "attempt", *kLease = "lease",
                     *kInstance = "instance", *kPool = "pool", *kSet = "set", *kGate = "gate",
                     *kSite = "site";

/// By value of Event. The codes are stored and part of the API: they never change.
constexpr std::array kEvents{
    EventInfo{Event::kUnknown, "unknown", kSite, kDebug, Holds::kData,
              "an event of another version of this program"},

    EventInfo{Event::kSubmitted, "submitted", kWork, kDebug, Holds::kNone, "the work was accepted"},
    EventInfo{Event::kStarting, "starting", kJob, kDebug, Holds::kNone,
              "an attempt is sent to a host"},
    EventInfo{Event::kQueuedAgain, "queued_again", kWork, kInfo, Holds::kNone,
              "the attempt was lost, or never started, or the host could not be granted: the work "
              "waits again at its old place"},
    EventInfo{Event::kFoundAgain, "found_again", kJob, kInfo, Holds::kNone,
              "the lost attempt still runs on its host, which is there again: it goes on"},
    EventInfo{Event::kHeld, "held", kWork, kWarning, Holds::kNone,
              "the work may have run after the backup was made that the site was restored from: it "
              "waits until an admin releases it"},
    EventInfo{Event::kReleased, "released", kWork, kInfo, Holds::kNone,
              "an admin released the held work: it waits for a host"},
    EventInfo{Event::kTakenOver, "taken_over", kWork, kWarning, Holds::kNone,
              "a host has work that began after the backup was made that the site was restored "
              "from: the attempt goes on, and its output is fetched, or the host stays lent"},
    EventInfo{Event::kCancelRequested, "cancel_requested", kJob, kDebug, Holds::kNone,
              "its host is told to end the attempt"},
    EventInfo{Event::kCollecting, "collecting", kJob, kDebug, Holds::kNone,
              "the attempt has ended; its output is being fetched"},
    EventInfo{Event::kSucceeded, "succeeded", kJob, kDebug, Holds::kReason,
              "the job ended with exit status 0"},
    EventInfo{Event::kFailed, "failed", kJob, kDebug, Holds::kReason,
              "the job ended in another way"},
    EventInfo{Event::kCancelled, "cancelled", kJob, kDebug, Holds::kReason,
              "the job was cancelled and has ended"},
    EventInfo{Event::kOutputsRemoved, "outputs_removed", kJob, kInfo, Holds::kNone,
              "the kept output of a job that had ended was deleted"},
    EventInfo{Event::kInterrupted, "interrupted", kJob, kInfo, Holds::kNone,
              "the attempt is ended, because its host will be interrupted; the job waits again, "
              "and the attempt does not count"},
    EventInfo{Event::kInterruptionCommand, "interruption_command", kJob, kInfo, Holds::kNone,
              "its host is told of the interruption, and runs the interruption command beside the "
              "job, if there is one"},
    EventInfo{Event::kUnexpectedAttempt, "unexpected_attempt", kAttempt, kWarning, Holds::kNone,
              "a host runs an attempt that it should not: it is killed"},

    EventInfo{Event::kLetGo, "let_go", kLease, kInfo, Holds::kNone,
              "the gang, of which this is the first lease, lets go of the hosts that it held: it "
              "tries again after a pause, or when its turn is next"},
    EventInfo{Event::kGranting, "granting", kLease, kDebug, Holds::kNone,
              "a host is chosen for the lease, and is made ready for the holder"},
    EventInfo{Event::kGranted, "granted", kLease, kInfo, Holds::kNone,
              "the host is ready for the holder: the term begins"},
    EventInfo{Event::kRenewed, "renewed", kLease, kDebug, Holds::kNone,
              "the holder wants the host longer: a new term begins"},
    EventInfo{
        Event::kEnding, "ending", kLease, kDebug, Holds::kReason,
        "the holder has the host no longer: it is cleaned or destroyed, or its account is closed"},
    EventInfo{Event::kEnded, "ended", kLease, kInfo, Holds::kReason, "the lease has ended"},

    EventInfo{Event::kCreateIntended, "create_intended", kInstance, kInfo, Holds::kData,
              "an instance of the type in `reason_code` is asked for"},
    EventInfo{Event::kCreated, "created", kInstance, kInfo, Holds::kNone,
              "the cloud shows the instance: it boots"},
    EventInfo{Event::kCreateRefused, "create_refused", kInstance, kWarning, Holds::kReason,
              "the cloud refused to make the instance"},
    EventInfo{Event::kCreateUnknown, "create_unknown", kInstance, kWarning, Holds::kReason,
              "the create got no answer: lists show whether the instance exists"},
    EventInfo{Event::kAbandoned, "abandoned", kInstance, kWarning, Holds::kReason,
              "the create was given up; the instance is destroyed if it still appears"},
    EventInfo{Event::kAdopted, "adopted", kInstance, kInfo, Holds::kReason,
              "the instance is taken over and proved again"},
    EventInfo{Event::kDuplicate, "duplicate", kInstance, kAlarm, Holds::kData,
              "the cloud made two instances of one create: this one is destroyed, the one in "
              "`reason_code` is kept"},
    EventInfo{Event::kVerified, "verified", kInstance, kInfo, Holds::kData,
              "the host proved its key by the method in `reason_code`"},
    EventInfo{Event::kReady, "ready", kInstance, kInfo, Holds::kNone,
              "the host can take work for the first time"},
    EventInfo{Event::kReachable, "reachable", kInstance, kInfo, Holds::kNone,
              "the host can be reached again"},
    EventInfo{Event::kUnreachable, "unreachable", kInstance, kWarning, Holds::kReason,
              "the connection to the host is lost"},
    EventInfo{
        Event::kBroken, "broken", kInstance, kAlarm, Holds::kData,
        "the check in `reason_code` failed: the host gets no more jobs. `start`: it could not "
        "start jobs; `ram`: it has less than half of the RAM that the menu says; `report`: it "
        "reported a number that cannot be; `protocol`: it violated "
        "the agent's protocol"},
    EventInfo{Event::kInitFailed, "init_failed", kInstance, kWarning, Holds::kNone,
              "the init command of a new host failed, and the host is kept"},
    EventInfo{Event::kConsole, "console", kInstance, kDebug, Holds::kNone,
              "the end of the console of a host that did not come up; only admins see the text"},
    EventInfo{Event::kCommandStarted, "command_started", kInstance, kInfo, Holds::kData,
              "hostler runs a command on the host, with the number in `reason_code`"},
    EventInfo{Event::kCommandEnded, "command_ended", kInstance, kInfo, Holds::kData,
              "the command with the number in `reason_code` has ended, or its end is not known"},
    EventInfo{Event::kHostKeyAlarm, "host_key_alarm", kInstance, kAlarm, Holds::kData,
              "another host answers at the address, with the key in `reason_code`: nothing is "
              "sent there"},
    EventInfo{Event::kCardAppeared, "card_appeared", kInstance, kInfo, Holds::kData,
              "the host lists the card in `reason_code`, which it did not list before"},
    EventInfo{Event::kCardVanished, "card_vanished", kInstance, kWarning, Holds::kData,
              "the host does not list the card in `reason_code` any more: no work gets it, and an "
              "attempt that has it goes on"},
    EventInfo{Event::kCardFailed, "card_failed", kInstance, kWarning, Holds::kData,
              "the card in `reason_code` has a problem: no work gets it, and an attempt that has "
              "it goes on"},
    EventInfo{Event::kCardHealthy, "card_healthy", kInstance, kInfo, Holds::kData,
              "the card in `reason_code` has no problem any more: work gets it again"},
    EventInfo{Event::kCardsChanged, "cards_changed", kInstance, kWarning, Holds::kNone,
              "more cards of the host have changed in one reading than the ten with an event of "
              "their own"},
    EventInfo{Event::kCardsUnread, "cards_unread", kInstance, kWarning, Holds::kNone,
              "the cards of the host could not be read: no work with cards starts there until a "
              "reading is good, and after the third in a row the host is broken"},
    EventInfo{Event::kCardsReadAgain, "cards_read_again", kInstance, kInfo, Holds::kNone,
              "the cards of the host could be read again"},
    EventInfo{Event::kCardsUnsteady, "cards_unsteady", kInstance, kWarning, Holds::kNone,
              "the cards of the host changed in more than ten readings of one hour: it is broken, "
              "and further changes are not told"},
    EventInfo{Event::kKept, "kept", kInstance, kAlarm, Holds::kReason,
              "the host of a restored state cannot be reached or proved: work that is not known "
              "here may run on it, so it is kept until an admin kills it"},
    EventInfo{
        Event::kUnknownNumbers, "unknown_numbers", kInstance, kAlarm, Holds::kNone,
        "the host has attempts of jobs whose numbers were never given out here, or that another "
        "host has: the state is old, or a host lies; they are left alone"},
    EventInfo{Event::kKeyRotated, "key_rotated", kInstance, kInfo, Holds::kData,
              "the host has its new key"},
    EventInfo{Event::kKeyChanged, "key_changed", kInstance, kInfo, Holds::kData,
              "the host proved another key by the method in `reason_code`"},
    EventInfo{Event::kRotationPutOff, "rotation_put_off", kInstance, kInfo, Holds::kNone,
              "the host's key was not replaced; the next connection tries again"},
    EventInfo{Event::kRotationNone, "rotation_none", kInstance, kInfo, Holds::kNone,
              "the host's key cannot be replaced there"},
    EventInfo{Event::kIdleBehavior, "idle_behavior", kInstance, kInfo, Holds::kData,
              "the instance is to `reason_code`: run, hold or drain"},
    EventInfo{Event::kInterruption, "interruption", kInstance, kWarning, Holds::kData,
              "its cloud will take the instance back, as `reason_code` says: driver, list or host"},
    EventInfo{Event::kCordoned, "cordoned", kInstance, kInfo, Holds::kNone,
              "the host will be interrupted: it gets no new jobs, and its jobs are replaced"},
    EventInfo{Event::kInterruptionOver, "interruption_over", kInstance, kInfo, Holds::kData,
              "no notice of an interruption holds any more: `withdrawn`, `lapsed` or `happened`; "
              "a host that is still there gets jobs again"},
    EventInfo{Event::kDrainBegan, "drain_began", kInstance, kInfo, Holds::kNone,
              "the bounds of its pool let it go: it gets no new work, and its drain command runs"},
    EventInfo{Event::kDrainCommandFailed, "drain_command_failed", kInstance, kWarning, Holds::kNone,
              "its drain command failed"},
    EventInfo{Event::kDrainOver, "drain_over", kInstance, kInfo, Holds::kNone,
              "it is quiet: it goes when it is empty"},
    EventInfo{Event::kDrainTimedOut, "drain_timed_out", kInstance, kWarning, Holds::kNone,
              "it did not become quiet in time: it goes when it is empty"},
    EventInfo{Event::kAgentReported, "agent_reported", kInstance, kDebug, Holds::kData,
              "the scheduler of its pool says that its agent there is as `reason_code` says: idle, "
              "busy, or missing"},
    EventInfo{Event::kAgentNeverCame, "agent_never_came", kInstance, kAlarm, Holds::kNone,
              "the scheduler of its pool has had no agent there in the time that hosts have to "
              "come: the host counts as lost"},
    EventInfo{Event::kStopped, "stopped", kInstance, kWarning, Holds::kReason,
              "the cloud shows the instance stopped, although hostler did not ask for it"},
    EventInfo{Event::kSwitchedOff, "switched_off", kInstance, kInfo, Holds::kReason,
              "the instance is switched off and kept"},
    EventInfo{Event::kOff, "off", kInstance, kDebug, Holds::kNone,
              "a list shows the instance off: it can be switched on"},
    EventInfo{Event::kSwitchedOn, "switched_on", kInstance, kInfo, Holds::kNone,
              "the instance is switched on again"},
    EventInfo{Event::kStartRefused, "start_refused", kInstance, kWarning, Holds::kReason,
              "the cloud refused to switch the instance on"},
    EventInfo{Event::kTerminating, "terminating", kInstance, kInfo, Holds::kReason,
              "the instance is destroyed"},
    EventInfo{Event::kDestroyRefused, "destroy_refused", kInstance, kWarning, Holds::kReason,
              "the cloud refused to destroy the instance: it is asked again"},
    EventInfo{Event::kDestroyIgnored, "destroy_ignored", kInstance, kAlarm, Holds::kNone,
              "the cloud has accepted several destroys and lists the instance unchanged"},
    EventInfo{Event::kTagsFailed, "tags_failed", kInstance, kWarning, Holds::kReason,
              "the instance's tags could not be written"},
    EventInfo{Event::kTagsRepaired, "tags_repaired", kInstance, kWarning, Holds::kNone,
              "the cloud listed the instance with other tags or without some: they are written "
              "again"},
    EventInfo{Event::kSetMissing, "set_missing", kInstance, kAlarm, Holds::kData,
              "the configuration has no instance set of the name in `reason_code`: nothing can "
              "be done to the instance"},
    EventInfo{Event::kUnexpectedAttempts, "unexpected_attempts", kInstance, kWarning, Holds::kNone,
              "the host runs more unexpected attempts than the ten with an event of their own"},
    EventInfo{Event::kUnlisted, "unlisted", kInstance, kAlarm, Holds::kNone,
              "lists omit the instance, but its host is connected: it keeps its jobs"},
    EventInfo{
        Event::kContradicted, "contradicted", kInstance, kAlarm, Holds::kNone,
        "the cloud lists the instance as failed, but its host is connected: it keeps its jobs"},
    EventInfo{Event::kVanished, "vanished", kInstance, kWarning, Holds::kReason,
              "two lists and a look-up by id omit the instance, or an admin believed a list "
              "without it: its attempts are lost, and restartable jobs are queued again"},
    EventInfo{Event::kListedAgain, "listed_again", kInstance, kWarning, Holds::kNone,
              "the cloud lists the vanished instance again: its host is proved again"},
    EventInfo{Event::kGone, "gone", kInstance, kInfo, Holds::kReason,
              "the instance does not exist any more"},

    EventInfo{Event::kBoundUnknown, "bound_unknown", kPool, kWarning, Holds::kData,
              "the expression of a bound gives no number: its hosts stay as they are"},
    EventInfo{Event::kBoundKnown, "bound_known", kPool, kInfo, Holds::kData,
              "the expression of a bound gives a number again"},
    EventInfo{Event::kBoundChanged, "bound_changed", kPool, kDebug, Holds::kData,
              "the expression of a bound gives another number"},
    EventInfo{Event::kBoundAtCeiling, "bound_at_ceiling", kPool, kAlarm, Holds::kData,
              "the expression of a bound wants more hosts than a ceiling allows"},

    EventInfo{Event::kPusherChanged, "pusher_changed", kPool, kInfo, Holds::kData,
              "another session of an outside scheduler, or another scheduler, pushes what the pool "
              "needs"},
    EventInfo{Event::kPoolTick, "pool_tick", kPool, kDebug, Holds::kNone,
              "the hosts of a pool that an outside scheduler sizes, by state and type; told every "
              "90 seconds at most"},
    EventInfo{Event::kPushTooOld, "push_too_old", kPool, kAlarm, Holds::kNone,
              "the last push is older than `max_age`: the hosts of the pool stay as they are"},
    EventInfo{Event::kPoolAbandonSoon, "pool_abandon_soon", kPool, kAlarm, Holds::kNone,
              "no outside scheduler has pushed for a long time: the pool is emptied soon"},
    EventInfo{Event::kPoolAbandoned, "pool_abandoned", kPool, kAlarm, Holds::kNone,
              "no outside scheduler has pushed in `abandoned_after`: the hosts of the pool go"},

    EventInfo{Event::kOpened, "opened", kSet, kInfo, Holds::kNone,
              "the instance set's cloud can be used"},
    EventInfo{Event::kOpenFailed, "open_failed", kSet, kWarning, Holds::kReason,
              "the instance set's cloud cannot be used, and is tried again; or not with new "
              "settings or a new driver, and those from before stay in use"},
    EventInfo{Event::kAccountDiffers, "account_differs", kSet, kAlarm, Holds::kNone,
              "the cloud reports another account or region than the stored one: the set is not "
              "used"},
    EventInfo{Event::kAccountAccepted, "account_accepted", kSet, kInfo, Holds::kNone,
              "an admin accepted the account and the region that the cloud reports"},
    EventInfo{Event::kForeignOwner, "foreign_owner", kSet, kAlarm, Holds::kNone,
              "the instance set has instances of another daemon: nothing is created in it"},
    EventInfo{Event::kForeignOwnerLeft, "foreign_owner_left", kSet, kInfo, Holds::kNone,
              "the instance set has no instances of another daemon any more"},
    EventInfo{
        Event::kListFlawed, "list_flawed", kSet, kWarning, Holds::kNone,
        "a list shows instances twice, instances that are not of the instance set, or machines "
        "as spot requests; told once an hour at most"},
    EventInfo{Event::kAdopting, "adopting", kSet, kWarning, Holds::kNone,
              "a list shows many instances that hostlerd does not know: they are adopted little by "
              "little, each with a record that names this one as its cause"},
    EventInfo{
        Event::kListDoubted, "list_doubted", kSet, kAlarm, Holds::kNone,
        "a list omits half of the instance set or more: nothing is created there until the "
        "cloud has been asked for each omitted instance; or it shows far more instances than "
        "can be right: none of them is adopted until an admin believes the list; or it shows an "
        "instance of a later epoch: the set is stopped"},
    EventInfo{Event::kListUnchecked, "list_unchecked", kSet, kAlarm, Holds::kNone,
              "the cloud did not say within 10 minutes whether the omitted instances exist: "
              "creates go on within ceilings"},
    EventInfo{Event::kListTrusted, "list_trusted", kSet, kInfo, Holds::kNone,
              "lists show most of the instance set again, and no more than can be right, or the "
              "instances that they omit have vanished"},
    EventInfo{Event::kLookUpUnsupported, "look_up_unsupported", kSet, kWarning, Holds::kReason,
              "the driver cannot be asked for instances by id: lists alone show that one is gone"},
    EventInfo{Event::kPartition, "partition", kSet, kAlarm, Holds::kNone,
              "half of the connected hosts became unreachable at once: none of them is destroyed "
              "for that before `mass_unreachable_hold` has passed"},
    EventInfo{Event::kPartitionEnded, "partition_ended", kSet, kInfo, Holds::kNone,
              "one of the hosts that became unreachable together answers again, and the others "
              "have their probe timeout from now on; or an admin gave them up, or none of them is "
              "left, or `mass_unreachable_hold` has passed"},
    EventInfo{Event::kCannotStop, "cannot_stop", kSet, kWarning, Holds::kData,
              "the cloud never stops instances of the type in `reason_code`: they are destroyed "
              "instead"},
    EventInfo{Event::kRamLearned, "ram_learned", kSet, kInfo, Holds::kData,
              "hosts of the type in `reason_code` report less RAM than the menu says: plans count "
              "with the least that was reported"},
    EventInfo{Event::kGpusLearned, "gpus_learned", kSet, kInfo, Holds::kData,
              "hosts of the type in `reason_code` list fewer cards than the menu says: plans "
              "count with the least that was listed"},
    EventInfo{Event::kOfferingsChanged, "offerings_changed", kSet, kInfo, Holds::kNone,
              "the cloud offers other types than before to pools that choose types by their "
              "properties"},
    EventInfo{Event::kWatchFailed, "watch_failed", kSet, kWarning, Holds::kReason,
              "the driver does not watch for interruptions now: it is asked again; lists and hosts "
              "still tell of them"},
    EventInfo{Event::kNoticesIgnored, "notices_ignored", kSet, kInfo, Holds::kNone,
              "notices of interruptions name instances that the set does not have"},
    EventInfo{Event::kOfferingsFailed, "offerings_failed", kSet, kWarning, Holds::kReason,
              "the cloud does not say which types it offers: those of before stay, and it is asked "
              "again"},
    EventInfo{Event::kPricesUnknown, "prices_unknown", kSet, kAlarm, Holds::kNone,
              "the driver has not said for ten minutes what types cost: the prices from before or "
              "the configured ones count, also for "
              "price caps and ceilings"},
    EventInfo{
        Event::kDriverCrashed, "driver_crashed", kSet, kWarning, Holds::kData,
        "the driver died in the function in `reason_code`, or may have ended the daemon there"},
    EventInfo{Event::kCallHeldBack, "call_held_back", kSet, kAlarm, Holds::kData,
              "the driver died twice in a row in the same call, of the function in `reason_code`: "
              "such calls are held back until a time, or until an admin opens their gate"},
    EventInfo{Event::kNoDescriptors, "no_descriptors", kSet, kAlarm, Holds::kNone,
              "the daemon has no file descriptor left for a process of the driver; told once an "
              "hour at most"},
    EventInfo{Event::kImageChanged, "image_changed", kSet, kInfo, Holds::kData,
              "new instances are made of the image in `reason_code`, the newest that a query of "
              "the configuration finds"},
    EventInfo{Event::kImageLost, "image_lost", kSet, kWarning, Holds::kReason,
              "a query of the configuration finds no image now: the last one that it found stays "
              "in use; without one nothing is created"},
    EventInfo{Event::kImageFoundAgain, "image_found_again", kSet, kInfo, Holds::kData,
              "the query finds the image in `reason_code` again, which stayed in use"},
    EventInfo{Event::kLeftoversFound, "leftovers_found", kSet, kWarning, Holds::kNone,
              "disks, addresses or other things with our tags outlived their instances: lists "
              "show them for `leftovers_after`"},
    EventInfo{Event::kLeftoverDestroying, "leftover_destroying", kSet, kInfo, Holds::kData,
              "the thing in `reason_code`, which outlived its instance, is destroyed"},
    EventInfo{Event::kLeftoverRefused, "leftover_refused", kSet, kWarning, Holds::kReason,
              "the cloud refused to destroy a thing that outlived its instance: it is asked "
              "again; told once for each thing"},
    EventInfo{Event::kLeftoversUnlisted, "leftovers_unlisted", kSet, kWarning, Holds::kReason,
              "the things that outlived their instances cannot be listed now; told once until "
              "they can"},
    EventInfo{
        Event::kGateShut, "gate_shut", kGate, kInfo, Holds::kReason,
        "the cloud refused a call, new hosts do not come up, the driver dies in a call, or a price "
        "is doubted: such calls are held back for a while, or until an admin opens the gate"},
    EventInfo{Event::kGateOpened, "gate_opened", kGate, kInfo, Holds::kNone,
              "such calls are made again"},
    EventInfo{Event::kStarted, "started", kSite, kInfo, Holds::kNone, "the daemon was started"},
    EventInfo{Event::kRestored, "restored", kSite, kWarning, Holds::kNone,
              "the daemon goes on from an old state"},
    EventInfo{Event::kPolicyChanged, "policy_changed", kSite, kInfo, Holds::kNone,
              "the configuration was read again"},
    EventInfo{Event::kDiskFull, "disk_full", kSite, kAlarm, Holds::kNone,
              "the disk of the state folder is full: submits and uploads are refused, and output "
              "waits on its hosts; or only output has no room, and waits"},
    EventInfo{Event::kDiskHasRoom, "disk_has_room", kSite, kInfo, Holds::kNone,
              "the disk of the state folder has room again for all that waited"},
};

constexpr bool events_are_in_order() {
  for (std::size_t i = 0; i < kEvents.size(); ++i)
    if (static_cast<std::size_t>(kEvents[i].event) != i) return false;
  return static_cast<std::size_t>(Event::kDiskHasRoom) + 1 == kEvents.size();
}
static_assert(events_are_in_order());

}  // namespace

std::span<const EventInfo> all_events() { return std::span(kEvents).subspan(1); }

const EventInfo& info(Event event) { return kEvents[static_cast<std::size_t>(event)]; }

const char* to_string(Event event) { return info(event).code; }

std::optional<Event> parse_event(std::string_view code) {
  for (const EventInfo& one : all_events())
    if (code == one.code) return one.event;
  return std::nullopt;
}

Severity severity_of(Event event, std::string_view reason_code) {
  const EventInfo& of = info(event);
  if (of.reason_code != ReasonCode::kReason) return of.severity;
  const ReasonInfo* reason = find_reason(reason_code);
  return reason == nullptr ? of.severity : std::max(of.severity, reason->severity);
}

}  // namespace hostler::model
