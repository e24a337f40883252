#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/demand/queue.h"
#include "core/dispatch/state/host.h"
#include "core/model/policy.h"
#include "core/model/push.h"
#include "core/pushed/demand.h"
#include "core/pushed/handshake.h"
#include "core/pushed/pusher.h"
#include "core/scheduler/bound.h"

namespace hostler::dispatch {

/// How long the scheduler of a pool has been silent.
enum class Silence : std::uint8_t {
  kNone,
  kTooOld,     ///< `max_age`: the pool is held.
  kLong,       ///< 4/5 of `abandoned_after`.
  kAbandoned,  ///< The pool empties.
};

/// The last push about one pool, and what its scheduler was told.
struct PushedPool {
  /// Why a host is to go, and since when plans say so.
  struct Going {
    std::string reason;
    Mono since{};
  };

  pushed::Pusher pusher;
  pushed::Handshake handshake;
  Mono heard;             ///< The last push; before it the start, or when the pool became pushed.
  bool is_heard = false;  ///< There was a push since then: `last` is it.
  model::Push last;
  pushed::Demand demand;                 ///< Of `last`.
  std::vector<demand::ClassId> classes;  ///< Of `demand`, in its order; interned.
  std::vector<std::string> unknown_agents;
  std::map<model::InstanceId, std::string> named;  ///< Under which names the last answer had them.
  std::map<model::InstanceId, Going> going;        ///< What the last plan wants to go.
  Silence silence = Silence::kNone;
  Mono next_tick = Mono::min();  ///< Of the event pool_tick.

  /// The last push is young enough to be acted on.
  [[nodiscard]] bool is_fresh(const model::PushedPolicy& policy, Mono now) const {
    return is_heard && now < heard + policy.max_age;
  }
  /// As of now.
  [[nodiscard]] Silence silence_at(const model::PushedPolicy& policy, Mono now) const;
  /// A shorter `abandoned_after` empties the pool after its alarm only, and a longer one, or none,
  /// stops that.
  void times_changed(const model::PushedPolicy& policy, Mono now);
  /// When silence_at() changes next; kNever: it does not.
  [[nodiscard]] Mono next_silence(const model::PushedPolicy& policy) const;
  /// The bounds that the source kPushedSource says of the pool.
  [[nodiscard]] std::vector<scheduler::Bound> bounds(const model::PushedPolicy& policy,
                                                     Mono now) const;
};

/// Pools that outside schedulers size, by their index in the policy.
class Pushes {
 public:
  /// A pool without entry. `now` counts as the last time that its scheduler was heard of.
  PushedPool& begin(std::uint32_t pool, pushed::Pusher pusher, std::uint64_t base, Mono now);
  /// Null: the pool is not pushed.
  [[nodiscard]] PushedPool* find(std::uint32_t pool);
  [[nodiscard]] const PushedPool* find(std::uint32_t pool) const;
  [[nodiscard]] const std::map<std::uint32_t, PushedPool>& all() const { return pools_; }
  [[nodiscard]] bool is_abandoned(std::uint32_t pool) const;
  void end(std::uint32_t pool);
  /// The host is gone.
  void erased(std::uint32_t pool, model::InstanceId id);
  /// Adds to the view what the handshake knows of the host.
  void add_to(scheduler::HostView& view) const;
  /// When the silence of a scheduler changes what is done; kNever: it never does.
  [[nodiscard]] Mono next_silence(const model::SitePolicy& policy) const;

 private:
  std::map<std::uint32_t, PushedPool> pools_;
  std::uint64_t last_answer_ = 0;  ///< Of pools that are pushed no more: no number is used twice.
};

/// The name by which the scheduler calls its agent on the host; empty: not known yet.
[[nodiscard]] std::string agent_name(const model::InstanceRecord& record, model::AgentName name);

}  // namespace hostler::dispatch
