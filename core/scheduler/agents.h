#pragma once

#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/model/reason.h"
#include "core/scheduler/beyond_max.h"
#include "core/scheduler/bounds.h"
#include "core/scheduler/snapshot.h"

/// The rules for hosts of pools that an outside scheduler sizes (PoolPolicy::pushed). They are
/// those of Determined (docs/design/determined.md); a time that is just reached is not over yet.
namespace hostler::scheduler {

/// A host without agent counts as coming until it is `starting` old. Then it is lost, since that
/// time or since its agent is missing, whichever was later.
struct WithoutAgent {
  AgentState state = AgentState::kComing;  ///< Or kLost.
  Mono since{};                            ///< kLost: since then.
};
/// `missing_since`: unset if no push has listed its agent.
[[nodiscard]] WithoutAgent without_agent(Mono created, std::optional<Mono> missing_since,
                                         const model::PushedPolicy& pushed, Mono now);

/// The bounds that a push says of its pool: nothing but that it is known, until it is older than
/// `max_age`. Then minimum and maximum are unknown; from `abandoned_after` on both are 0.
[[nodiscard]] std::vector<Bound> bounds_of_push(Mono pushed_at, const model::PushedPolicy& pushed,
                                                Mono now);

/// Its agent was listed, and has been missing for less than `shrink_after`: that may be a mistake.
[[nodiscard]] bool is_awaited(const HostView& host, const model::PoolPolicy& pool, Mono now);

/// The host is idle for longer than its pool lets it be; false if its agent is not.
[[nodiscard]] bool is_idle_for_long(const HostView& host, const model::PoolPolicy& pool, Mono now);

/// Why the host goes whatever the minimum of its pool is: kDisconnected or kTooOld; else kNone. A
/// busy host that is too old stays until it is idle.
[[nodiscard]] model::Reason goes_anyway(const HostView& host, const model::PoolPolicy& pool,
                                        Mono now);

/// A shutdown for this reason is about what the scheduler says of the host: nothing ends for it
/// while that is too old (PoolNumbers::is_stale).
[[nodiscard]] bool goes_by_push(model::Reason code, const HostView& host);

/// The host ends for this reason only once it is `acknowledged`. `closed`: why it is closed.
[[nodiscard]] bool needs_handshake(model::Reason code, const HostView& host, Closed closed);

/// The lowest of equal hosts goes first: those that have to go already, so that the list that the
/// scheduler is told stays the same.
[[nodiscard]] int order_of_going(const HostView& host);

}  // namespace hostler::scheduler
