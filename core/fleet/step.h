#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/fleet/instance.h"
#include "core/model/cloud.h"
#include "core/model/host.h"

/// The state machine of an instance (docs/states.md has its table): each function applies one
/// event and returns the consequences. Pure: time is an argument, no function has side effects, and
/// equal arguments give equal results. The caller journals the record, and executes the effects
/// once the record is durable.
namespace hostler::fleet {

enum class Effect : std::uint8_t {
  kConnect,  ///< Connect or reconnect the link, with the record's address and identity.
  kDisconnect,
  kCreateAgain,  ///< Send the same request, byte for byte.
  /// The same, for an instance that the cloud shows; only where the cloud knows the key of a
  /// create, and may wait: the next list asks for it again.
  kFinishCreate,
  kDestroy,
  kList,       ///< List the set's instances soon.
  kLookUp,     ///< Ask the cloud for the instance by its id.
  kRetag,      ///< Write the tag of the idle behavior.
  kStop,       ///< Switch it off; idempotent.
  kStart,      ///< Switch it on; idempotent.
  kWorkLost,   ///< It does not exist or is off, as far as all evidence says: its work is lost.
  kRoomFreed,  ///< It does not count for ceilings any more.
  kGone,       ///< Forget it, and what kWorkLost and kRoomFreed mean if they were not sent before.
};

struct Outcome {
  std::vector<Effect> effects;
  bool changed = false;               ///< The record must be journalled.
  std::optional<model::Event> event;  ///< For the ledger; unset: nothing worth a revision.
  std::string reason_code;            ///< As LedgerRecord::reason_code.
  std::string reason;
  Duration list_after = std::chrono::milliseconds(200);  ///< Of kList: no sooner than this.
};

// ---- events of the cloud ----------------------------------------------------------------------

/// The cloud shows the instance, in a list or as the record of a create. `as_of`: the data are not
/// older than this. Shown as running, it is the evidence of kCloud. `consistency`: as
/// SetInfo::list_consistency, if a complete list shows it: two lists prove that it is off, whatever
/// work is on it.
[[nodiscard]] Outcome listed(Instance& instance, const model::ListedInstance& seen, Mono as_of,
                             const model::PoolPolicy& pool, Now now,
                             std::optional<Duration> consistency = {});
/// A complete list does not show the instance.
struct ListWithout {
  Mono sent;                ///< When the list was asked for.
  Duration consistency;     ///< As SetInfo::list_consistency; 0: undeclared.
  bool can_look_up = true;  ///< The driver answers look-ups by id. If not, lists alone decide.
};
[[nodiscard]] Outcome absent(Instance& instance, const ListWithout& list, Now now);
/// A look-up by id, sent at `sent`, found the instance, whatever lists say.
[[nodiscard]] Outcome found(Instance& instance, const model::ListedInstance& seen, Mono sent,
                            const model::PoolPolicy& pool, Now now);
/// A look-up by id, sent at `sent`, did not find the instance. `gone`: the cloud says that it is
/// gone.
[[nodiscard]] Outcome not_found(Instance& instance, Mono sent, bool gone, Now now);
/// An admin says that the list is right, which omits the instance. A live connection stands against
/// it: then this has no effect.
[[nodiscard]] Outcome believed_absent(Instance& instance, const std::string& actor, Now now);
/// The create succeeded. If it came without a record, the outcome is as unknown as after a lost
/// reply: the instance may be gone before a list shows it.
[[nodiscard]] Outcome create_answered(Instance& instance, Now now);
/// The create failed.
[[nodiscard]] Outcome create_failed(Instance& instance, const model::CloudError& error, Now now);
/// A destroy was accepted or refused. Only a list shows that the instance is gone.
[[nodiscard]] Outcome destroy_answered(Instance& instance, const model::CloudError* error,
                                       const model::PoolPolicy& pool, Now now);
/// Of a call to start or stop an instance: the cloud will never do it, a retry would not help.
[[nodiscard]] bool is_final(const model::CloudError& error);
/// A call to stop the instance ended. Lists show its state.
[[nodiscard]] Outcome stop_answered(Instance& instance, const model::CloudError* error,
                                    const model::PoolPolicy& pool, Now now);
/// A call to start the instance ended. If it was refused for now, the instance is standby again.
[[nodiscard]] Outcome start_answered(Instance& instance, const model::CloudError* error, Now now);

// ---- events of the link -----------------------------------------------------------------------

[[nodiscard]] Outcome not_yet(Instance& instance, const model::HostNotYet& event, Now now);
/// The init command of a new host has failed. The host is ended, unless its pool takes such hosts
/// or an admin holds it: that is an event, once.
[[nodiscard]] Outcome init_failed(Instance& instance, const model::HostInitFailed& event, Now now);
/// The host's key was proved. A host that is lent is kept while it can be: whatever its holder has
/// done to the agent, its port answers.
[[nodiscard]] Outcome verified(Instance& instance, const model::HostVerified& event,
                               const model::PoolPolicy& pool, Now now);
/// The proved host has booted: the evidence of kSsh.
[[nodiscard]] Outcome booted(Instance& instance, const model::HostBooted& event,
                             const model::PoolPolicy& pool, Now now);
/// The agent answers: the evidence of kAgent.
[[nodiscard]] Outcome ready(Instance& instance, const model::HostReady& event, Now now);
/// All work that the ready host has reported is known now: it is no longer `restored`. If it is
/// empty, it may have been lent since the backup was made: an admin decides, so it is held.
[[nodiscard]] Outcome work_reported(Instance& instance, const model::PoolPolicy& pool, Now now);
[[nodiscard]] Outcome lost(Instance& instance, const model::HostLost& event,
                           const model::PoolPolicy& pool, Now now);
[[nodiscard]] Outcome key_alarm(Instance& instance, const model::HostKeyAlarm& event,
                                const model::PoolPolicy& pool, Now now);
[[nodiscard]] Outcome broken(Instance& instance, const model::HostBroken& event, Now now);
/// A host that was found broken as its agent answered, before ready(): a new one is ended at once,
/// and counts as one that did not come up.
[[nodiscard]] Outcome unfit(Instance& instance, Now now);
/// A start was refused. A host that refuses several in a row gets no starts for a while, each time
/// longer. It is broken after six, or after three different jobs that it could not start. Starts
/// that were sent before the last counted refusal do not count again, and count for one job. An
/// attempt that was placed after a refused one and runs for some seconds ends the row. What was not
/// tried on a host that has work says nothing: the host may be full.
[[nodiscard]] Outcome start_refused(Instance& instance, const RefusedStart& start,
                                    const std::string& text, Now now);
/// The attempt with this sequence has ended: the host could start it, and has room again.
void start_held(Instance& instance, std::uint64_t sequence, Now now);
/// The host may soon show another key, and refuse connections for a moment: its rotation is due,
/// and has not ended on this connection.
[[nodiscard]] bool may_change_key(const Instance& instance, const model::PoolPolicy& pool);
[[nodiscard]] Outcome rotation_proposed(Instance& instance, const model::RotationProposed& event);
[[nodiscard]] Outcome rotation_ended(Instance& instance, const model::RotationEnded& event);

// ---- notices of interruptions ------------------------------------------------------------------

/// A source says that the cloud will take the instance back; kWithdrawn: it no longer says so. One
/// that says the same again has no effect, nor has one whose time passed more than kNoticeHolds
/// ago, or is more than a year away. Of several sources the first interruption counts.
[[nodiscard]] Outcome noticed(Instance& instance, model::Notice notice,
                              const model::PoolPolicy& pool, Now now);
/// The deadline of its notices has passed: the interruption is near, or the notice holds no longer.
[[nodiscard]] Outcome notice_due(Instance& instance, const model::PoolPolicy& pool, Now now);
/// Its restartable jobs are to end now, so that they go to other hosts before the interruption.
[[nodiscard]] bool ends_work_now(const Instance& instance, const model::PoolPolicy& pool, Now now);

// ---- drains -------------------------------------------------------------------------------------

/// Bounds let the host go, and its pool has `scaling.drain`: it gets no new work from now on. No
/// effect if it drains or has drained, or if it is neither coming nor ready.
[[nodiscard]] Outcome begin_drain(Instance& instance, const std::string& reason,
                                  const model::DrainPolicy& drain, Now now);
/// The command of its drain has ended. Without an expression for quiet that is the end of the
/// drain, if it succeeded.
[[nodiscard]] Outcome drain_command_ended(Instance& instance, bool good, const std::string& text,
                                          const model::PoolPolicy& pool, Now now);
/// It is asked now whether the host is quiet: no command of its drain runs.
[[nodiscard]] bool awaits_quiet(const Instance& instance);
/// The drain is over: the host is quiet, or its pool drains no more. `why`: for people.
[[nodiscard]] Outcome drain_over(Instance& instance, const std::string& why);
/// The time of its drain has passed.
[[nodiscard]] Outcome drain_due(Instance& instance, const model::PoolPolicy& pool, Now now);

// ---- reports of an outside party ---------------------------------------------------------------

/// It says that the host is ready: the evidence of kReported. No effect in another pool, or unless
/// takes_report().
[[nodiscard]] Outcome reported(Instance& instance, const std::string& actor,
                               const model::PoolPolicy& pool, Now now);
/// The cloud has shown it, and it is not off.
[[nodiscard]] bool takes_report(const Instance& instance);
/// takes_report(), or it is asked for: an outside scheduler may come to have an agent there.
[[nodiscard]] bool may_have_agent(const Instance& instance);

// ---- agents of outside schedulers ---------------------------------------------------------------

/// A push of its pool lists its agent as idle or busy, or does not list it: kMissing, which has no
/// effect unless one has before. No effect if its machine is off or goes, or in another pool. A
/// listed agent is the evidence of kReported, and says what runs on a host that is `restored`.
[[nodiscard]] Outcome agent_reported(Instance& instance, model::AgentReport report,
                                     const std::string& actor, const model::PoolPolicy& pool,
                                     Now now);
/// Decides whether a host without agent still counts as coming. After it is made and after its pool
/// has changed; the other steps see to it themselves.
void watch_agent(Instance& instance, const model::PoolPolicy& pool, Now now);
/// The first push after a silence does not list its agent. It gets at least `shrink_after` from
/// now on: its scheduler could not say before that the agent is there.
void await_after_silence(Instance& instance, const model::PoolPolicy& pool, Now now);
/// The time has passed in which a host without agent counts as coming.
[[nodiscard]] Outcome agent_due(Instance& instance, const model::PoolPolicy& pool, Now now);
/// Its scheduler has given up the pool: nothing that it has said counts any more.
[[nodiscard]] Outcome agent_forgotten(Instance& instance, const model::PoolPolicy& pool, Now now);

// ---- questions --------------------------------------------------------------------------------

/// Its create was not executed, and is to be sent.
[[nodiscard]] bool awaits_create(const Instance& instance);
/// Which evidence makes it ready: what its pool asks for. One with attempts needs its agent, also
/// if its pool asks for something else since a restart: nobody else tells how they end.
[[nodiscard]] model::Readiness evidence_of(const Instance& instance, const model::PoolPolicy& pool);
/// It comes, and only a list of its cloud can bring it nearer to being ready: it has no address for
/// its link, or its pool asks the cloud.
[[nodiscard]] bool awaits_list(const Instance& instance, const model::PoolPolicy& pool);
/// What due() will look at, one word for people: "boot_timeout".
[[nodiscard]] const char* purpose_of_deadline(const Instance& instance);

// ---- decisions --------------------------------------------------------------------------------

/// Its deadline has passed.
[[nodiscard]] Outcome due(Instance& instance, const model::PoolPolicy& pool, Now now);
/// A plan, an admin or a rule ends the instance, in any state. The caller has checked that it may.
[[nodiscard]] Outcome terminate(Instance& instance, model::Reason code, const std::string& reason,
                                Now now);
/// Its lease has ended, and its holder may have changed the host: nobody else gets it. It is ended,
/// or broken as long as only an admin may end it, or until a list shows it again. `problem`: why it
/// was not cleaned, or the account not closed.
[[nodiscard]] Outcome lease_ended(Instance& instance, model::WorkId lease, Now now,
                                  const std::string& problem = {});
/// A plan switches the instance off. The caller has checked that it is empty.
[[nodiscard]] Outcome switch_off(Instance& instance, model::Reason code, const std::string& reason,
                                 Now now);
/// A plan switches the instance on. Ignored until a list has shown it off.
[[nodiscard]] Outcome switch_on(Instance& instance, const std::string& reason,
                                const model::PoolPolicy& pool, Now now);
/// Attempts or claims were added or removed, or its pool has another uses_max: idle becomes busy or
/// the reverse. Ends empty hosts that are drained, broken or used up.
[[nodiscard]] Outcome work_changed(Instance& instance, const model::PoolPolicy& pool, Now now);
[[nodiscard]] Outcome set_idle_behavior(Instance& instance, model::IdleBehavior behavior,
                                        const std::string& actor, Now now);
/// An admin is to decide about the host.
[[nodiscard]] Outcome hold(Instance& instance, const std::string& why, Now now);
/// After a restart: the record is from the journal, and the host is not verified yet.
[[nodiscard]] Outcome adopt(Instance& instance, const model::PoolPolicy& pool,
                            Duration abandoned_for, bool has_work, Now now);

/// The pause before try `tries` (from 1): `first`, doubled with each try, at most `longest`.
[[nodiscard]] Duration backoff(std::uint32_t tries, Duration first, Duration longest);

}  // namespace hostler::fleet
