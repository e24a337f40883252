#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/fleet/instance.h"
#include "core/model/cloud.h"
#include "core/model/host.h"

/// The life of an instance: each function applies one event and says what follows. Pure: time is
/// an argument, nothing is called, equal arguments give equal answers. Whoever calls them journals
/// the record and carries the effects out once that is durable.
namespace hostler::fleet {

enum class Effect : std::uint8_t {
  kConnect,  ///< (Re)connect the link with the record's address and identity.
  kDisconnect,
  kCreateAgain,  ///< The same request, byte for byte.
  kDestroy,
  kList,   ///< Look at the set's instances soon.
  kRetag,  ///< Write the idle behavior's tag.
  kStop,   ///< Switch it off; the same again does no harm.
  kStart,  ///< Likewise on.
  kGone,   ///< It is certain not to exist: its work is lost.
};

struct Outcome {
  std::vector<Effect> effects;
  bool changed = false;               ///< The record must be journalled.
  std::optional<model::Event> event;  ///< For the ledger; unset: nothing worth a revision.
  std::string reason_code;            ///< As LedgerRecord::reason_code.
  std::string reason;
  Duration list_after = std::chrono::milliseconds(200);  ///< kList: no sooner.
};

// ---- what the cloud says -----------------------------------------------------------------------

/// The cloud shows it, as it was at `as_of` or later: in a list, or as a create's record.
[[nodiscard]] Outcome listed(Instance& instance, const model::ListedInstance& seen, Mono as_of,
                             const model::PoolPolicy& pool, Now now);
/// A complete list that was sent at `list_sent` does not show it.
[[nodiscard]] Outcome absent(Instance& instance, Mono list_sent, Duration consistency, Now now);
/// The create ended well. Where no record of it came, its outcome is as unknown as after a lost
/// reply: the instance may be gone before any list shows it.
[[nodiscard]] Outcome create_answered(Instance& instance, Now now);
/// The create ended with an error.
[[nodiscard]] Outcome create_failed(Instance& instance, const model::CloudError& error, Now now);
/// A destroy was accepted or refused; either way only a list says gone.
[[nodiscard]] Outcome destroy_answered(Instance& instance, const model::CloudError* error,
                                       const model::PoolPolicy& pool, Now now);
/// Of a call to start or to stop: waiting would not help, the cloud never does this to it.
[[nodiscard]] bool is_final(const model::CloudError& error);
/// A call to stop it ended; what it is then, lists say.
[[nodiscard]] Outcome stop_answered(Instance& instance, const model::CloudError* error,
                                    const model::PoolPolicy& pool, Now now);
/// Likewise to start it. Refused for now, it is standby again.
[[nodiscard]] Outcome start_answered(Instance& instance, const model::CloudError* error, Now now);

// ---- what its link says ------------------------------------------------------------------------

[[nodiscard]] Outcome not_yet(Instance& instance, const model::HostNotYet& event, Now now);
[[nodiscard]] Outcome verified(Instance& instance, const model::HostVerified& event, Now now);
[[nodiscard]] Outcome ready(Instance& instance, const model::HostReady& event, Now now);
[[nodiscard]] Outcome lost(Instance& instance, const model::HostLost& event,
                           const model::PoolPolicy& pool, Now now);
[[nodiscard]] Outcome key_alarm(Instance& instance, const model::HostKeyAlarm& event,
                                const model::PoolPolicy& pool, Now now);
[[nodiscard]] Outcome broken(Instance& instance, const model::HostBroken& event, Now now);
/// The agent refused a start. Hosts that go on so get nothing for longer and longer, and are broken
/// in the end; refusals of starts sent before the last one that was counted are the same one.
[[nodiscard]] Outcome start_refused(Instance& instance, std::uint64_t sequence,
                                    const std::string& text, Now now);
[[nodiscard]] Outcome rotation_proposed(Instance& instance, const model::RotationProposed& event);
[[nodiscard]] Outcome rotation_ended(Instance& instance, const model::RotationEnded& event);

// ---- what we want ------------------------------------------------------------------------------

/// Its deadline has passed.
[[nodiscard]] Outcome due(Instance& instance, const model::PoolPolicy& pool, Now now);
/// A plan, an admin or a rule wants it gone. Holds no matter what state it is in; callers ask
/// first whether they may.
[[nodiscard]] Outcome terminate(Instance& instance, model::Reason code, const std::string& reason,
                                Now now);
/// A plan wants it kept, but switched off. Callers ask first whether nothing is on it.
[[nodiscard]] Outcome switch_off(Instance& instance, model::Reason code, const std::string& reason,
                                 Now now);
/// A plan wants it back. Only where the cloud says that it is off: seen_stopped.
[[nodiscard]] Outcome switch_on(Instance& instance, const std::string& reason,
                                const model::PoolPolicy& pool, Now now);
/// Work was put on it, or the last of it left. Also ends drained and broken hosts.
[[nodiscard]] Outcome work_changed(Instance& instance, Now now);
[[nodiscard]] Outcome set_idle_behavior(Instance& instance, model::IdleBehavior behavior,
                                        const std::string& actor, Now now);
/// After a restart: what the journal knew, not yet verified again.
[[nodiscard]] Outcome adopt(Instance& instance, const model::PoolPolicy& pool,
                            Duration abandoned_for, bool has_work, Now now);

/// Back-off before try n (from 1): `first` doubling up to `longest`.
[[nodiscard]] Duration backoff(std::uint32_t tries, Duration first, Duration longest);

}  // namespace hostler::fleet
