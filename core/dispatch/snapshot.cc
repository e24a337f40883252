#include <algorithm>
#include <cassert>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// The world as the planner sees it.
namespace hostler::dispatch {

using model::InstanceState;
using scheduler::HostPhase;

namespace {

constexpr std::size_t kHeadsSeen = 32;  ///< Items of a class that the planner sees one by one.

HostPhase phase_of(InstanceState state) {
  switch (state) {
    case InstanceState::kRequested:
    case InstanceState::kBooting:
    case InstanceState::kUnknown:
      return HostPhase::kComing;
    case InstanceState::kIdle:
    case InstanceState::kBusy:
      return HostPhase::kReady;
    case InstanceState::kStopped:
      return HostPhase::kStopped;
    case InstanceState::kTerminating:
    case InstanceState::kAbandoned:
    case InstanceState::kGone:
      return HostPhase::kLeaving;
  }
  return HostPhase::kLeaving;
}

/// Free room is no reason for a plan: fill() gives it away at once, by the order of the queue.
bool is_worth_a_plan(scheduler::HostView before, const scheduler::HostView& after) {
  before.free = after.free;
  before.attempts_left = after.attempts_left;
  return before != after;
}

}  // namespace

std::shared_ptr<scheduler::Snapshot> Dispatcher::snapshot(Now now) {
  auto out = std::make_shared<scheduler::Snapshot>();
  out->now = now.mono;
  Mono wake = std::min(view_offerings(*out, now), view_hosts(*out, now));
  for (const auto& order : queue_.order()) out->classes.push_back(view(order.cls));
  if (!out->classes.empty()) wake = std::min(wake, now.mono + std::chrono::seconds(10));
  out->site = governor_.site(now.mono);
  for (std::uint32_t i = 0; i < sets_.size(); ++i) out->sets.push_back(governor_.set(i, now.mono));
  for (std::uint32_t i = 0; i < policy_.pools.size(); ++i)
    out->pools.push_back(governor_.pool(i, now.mono));
  if (const auto next = governor_.next_create(now.mono)) wake = std::min(wake, *next);
  plan_wake_ = wake;
  return out;
}

Mono Dispatcher::view_hosts(scheduler::Snapshot& out, Now now) const {
  Mono wake = fleet::kNever;
  // A moment that is past has had its plan; only a change is worth another.
  const auto look_at = [&](Mono when) {
    if (when > now.mono) wake = std::min(wake, when);
  };
  assert(
      std::ranges::equal(views_, hosts_, {}, {}, [&](const auto& of) { return view(of.second); }));
  out.hosts = views_;
  for (auto& seen : out.hosts) {
    const auto& pool = policy_.pools[seen.pool];
    if (seen.phase == HostPhase::kReady && !seen.busy) look_at(seen.since + pool.idle_timeout);
    if (seen.unreachable_since) look_at(*seen.unreachable_since + pool.probe_timeout);
    if (!seen.can_wake) continue;
    const auto query = gate_query(hosts_.at(seen.id), model::CloudOp::kStart);
    const auto* gate = gates_.shut(query, now.mono);
    if (gate == nullptr) continue;
    seen.can_wake = false;
    look_at(gate->until);
  }
  return wake;
}

void Dispatcher::touch_all() {
  for (const auto& [id, other] : hosts_) touched_.push_back(id);
}

void Dispatcher::look_at_touched() {
  std::vector<model::InstanceId> gone;
  for (const auto id : touched_) {
    const Host* touched = find(id);
    if (touched == nullptr) {
      gone.push_back(id);
      continue;
    }
    auto seen = view(*touched);
    const auto before = std::ranges::lower_bound(views_, id, {}, &scheduler::HostView::id);
    if (before == views_.end() || before->id != id) {
      views_.insert(before, std::move(seen));
      plan_soon();
    } else if (*before != seen) {
      if (is_worth_a_plan(*before, seen)) plan_soon();
      *before = std::move(seen);
    }
  }
  touched_.clear();
  if (gone.empty()) return;
  std::ranges::sort(gone);
  std::erase_if(views_, [&](const auto& of) { return std::ranges::binary_search(gone, of.id); });
}

scheduler::HostView Dispatcher::view(const Host& host) const {
  const auto& instance = host.instance;
  const auto& record = instance.record;
  scheduler::HostView out;
  out.id = record.id;
  out.offering = offering_of(instance);
  out.pool = instance.pool;
  out.phase = phase_of(record.state);
  out.takes_work = instance.takes_work();
  out.busy = !instance.empty();
  out.kept = record.idle_behavior == model::IdleBehavior::kHold;
  // What can become of one that is off, only its cloud can say.
  out.kept = out.kept || (out.phase == HostPhase::kStopped && !sets_[instance.set].open);
  out.can_stop = out.phase == HostPhase::kStopped
                     ? has_power(instance.set, record.market)
                     : can_stop(instance.set, record.type, record.market);
  out.can_wake = can_wake(host);
  out.draining = record.idle_behavior == model::IdleBehavior::kDrain;
  out.adopted = record.state == InstanceState::kUnknown;
  out.unfulfilled_spot = instance.unfulfilled_spot;
  if (instance.type) out.total = policy_.types[*instance.type].resources;
  out.free = out.total - instance.used;
  const std::int32_t most = policy_.pools[instance.pool].attempts_parallel_max;
  if (most > 0)
    out.attempts_left = std::max(0, most - static_cast<std::int32_t>(instance.attempts));
  out.price_per_hour = record.price_per_hour;
  out.created = instance.created;
  if (out.phase == HostPhase::kReady && !out.busy) out.since = instance.since;
  out.unreachable_since = instance.unreachable_since;
  out.reserved_for = host.reserved_for;
  if (out.phase == HostPhase::kComing) out.load = host.load;
  return out;
}

scheduler::ClassView Dispatcher::view(scheduler::ClassId id) const {
  const auto& klass = queue_.at(id);
  scheduler::ClassView out{.id = id, .shape = klass.shape, .count = klass.count};
  for (const auto& item : klass.items) {
    if (out.heads.size() >= kHeadsSeen) break;
    if (!item.work) continue;
    if (out.heads.empty()) out.oldest = item.since;
    out.heads.push_back(item.arrival);
  }
  return out;
}

}  // namespace hostler::dispatch
