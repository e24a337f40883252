#pragma once

#include <string>

#include "core/fleet/step.h"

/// Private to core/fleet: changes of state.
namespace hostler::fleet {

/// Enters a state: the record is journalled, `since` is now, and there is no deadline until one is
/// set.
void enter(Instance& instance, model::InstanceState state, Outcome& out, model::Event event,
           model::Reason code, const std::string& reason, Now now);

/// Its create was refused: it is gone without having existed, and its secrets are of no more use.
void never_was(Instance& instance, Outcome& out, model::Event event, model::Reason code,
               const std::string& reason, Now now);

/// The cloud stopped the instance, unasked. If it stops each time it is switched on, it is ended.
void stopped_by_itself(Instance& instance, const std::string& reason, Outcome& out, Now now);

/// The instance is off: an interruption that was announced has happened.
void stop_happened(Instance& instance);

/// After a restart: its command may have run, and is not run again.
void restore_drain(Instance& instance, const model::PoolPolicy& pool, Now now);
/// It is off: what was told of it when it drained has come true, and it drains anew the next time.
void forget_drain(Instance& instance);

/// A push has listed its agent since it was switched on. If the last one does not, that may be a
/// mistake: plans know how long it is awaited.
[[nodiscard]] bool has_had_agent(const Instance& instance);
/// After a restart: since when its agent is idle, busy or missing. After adopt() knows its age.
void restore_agent(Instance& instance, const model::PoolPolicy& pool, Now now);
/// It was switched on, or is there at last: the scheduler has as much time as for a new host.
void await_agent_anew(Instance& instance, const model::PoolPolicy& pool, Now now);
/// It is off: its agent has ended with the machine.
void forget_agent(Instance& instance);

/// The evidence that the pool asks for is there: the instance is ready, and reachable again if it
/// was not.
void become_ready(Instance& instance, Outcome& out, Now now);
/// The same in a pool without an agent. One that has had its uses is ended: nothing else looks at
/// it.
void become_ready_without_agent(Instance& instance, const model::PoolPolicy& pool, Outcome& out,
                                Now now);

/// All work on it is known: it is no longer of a restored state. True: it was until now.
[[nodiscard]] bool work_is_known(Instance& instance);

/// A broken host on which nothing is left: it is ended, unless an admin holds it.
[[nodiscard]] bool ends_when_empty(const Instance& instance);
/// A host on which nothing is left, and which has had its uses: likewise.
[[nodiscard]] bool ends_as_used(const Instance& instance, const model::PoolPolicy& pool);
[[nodiscard]] Outcome end_as_used(Instance& instance, const model::PoolPolicy& pool, Now now);

/// So far apart two lists of a set are sent that prove something together. `consistency`: as
/// SetInfo::list_consistency.
[[nodiscard]] inline Duration proof_takes(Duration consistency) {
  /// For drivers that do not declare when a list shows a change.
  constexpr Duration kUndeclaredConsistency = std::chrono::minutes(1);
  return consistency == Duration::zero() ? kUndeclaredConsistency : consistency;
}

/// The pause before the instance's create is sent again.
[[nodiscard]] Duration create_pause(const Instance& instance);

/// `reason`, with the error of which the instance died, if the cloud has told one.
[[nodiscard]] inline std::string and_cloud_error(std::string reason, const Instance& instance) {
  const std::string& error = instance.listing.error();
  if (!error.empty()) reason += "; the cloud says: " + error;
  return reason;
}

/// No list speaks against the instance any more, and absences are counted anew.
void end_doubt(Instance& instance);

/// It is off, or does not exist: nobody expects its host to answer, and nothing rests.
void stop_expecting(Instance& instance);

/// Its outside scheduler says that something runs there, whatever is seen of it from here.
[[nodiscard]] bool runs_tasks(const Instance& instance, const model::PoolPolicy& pool);

/// It has a link. Without one nobody sees it answer.
[[nodiscard]] bool needs_link(const Instance& instance, const model::PoolPolicy& pool);
/// A list that shows it running is the evidence that it is ready: its pool asks the cloud, or an
/// outside party has reported it before a restart.
[[nodiscard]] bool is_evidence_of_list(const Instance& instance, const model::PoolPolicy& pool);

/// Sets the deadline in memory and, as wall time, in the record.
void set_deadline(Instance& instance, Mono deadline, Now now);

}  // namespace hostler::fleet
