#include <algorithm>
#include <map>
#include <tuple>
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

Mono Dispatcher::view_offerings(scheduler::Snapshot& out, Now now) const {
  Mono wake = fleet::kNever;
  out.offerings = offerings_;
  for (auto& offering : out.offerings) {
    const Set& set = sets_[offering.set];
    offering.can_stop = can_stop(offering.set, policy_.types[offering.type].name, offering.market);
    if (!set.open) {
      offering.shut = "the set is not open" + (set.problem.empty() ? "" : ": " + set.problem);
    } else if (set.foreign) {
      offering.shut = set.problem;
    } else if (const auto* gate = gates_.shut(gate_query(offering), now.mono)) {
      offering.shut = gate->record.message.empty() ? "a gate is shut" : gate->record.message;
      if (gate->until > now.mono) wake = std::min(wake, gate->until);
    }
  }
  return wake;
}

Mono Dispatcher::view_hosts(scheduler::Snapshot& out, Now now) const {
  Mono wake = fleet::kNever;
  // Pools may share a set and a type, but neither caps nor timers.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>;
  std::map<Key, std::uint32_t> index;
  for (std::uint32_t i = 0; i < offerings_.size(); ++i)
    index.try_emplace(
        {offerings_[i].pool, offerings_[i].set, offerings_[i].type, offerings_[i].zone}, i);
  const auto offering_of = [&](const fleet::Instance& instance) -> std::optional<std::uint32_t> {
    if (!instance.type) return std::nullopt;
    auto found = index.find({instance.pool, instance.set, *instance.type, instance.record.zone});
    if (found != index.end()) return found->second;
    // Its zone has left the menu.
    found = index.lower_bound({instance.pool, instance.set, *instance.type, ""});
    if (found == index.end()) return std::nullopt;
    const auto& [pool, set, type, zone] = found->first;
    const bool alike = pool == instance.pool && set == instance.set && type == *instance.type;
    return alike ? std::optional(found->second) : std::nullopt;
  };
  out.hosts.reserve(hosts_.size());
  for (const auto& [id, other] : hosts_) {
    auto seen = view(other, now);
    if (const auto offering = offering_of(other.instance)) seen.offering = *offering;
    if (seen.phase == HostPhase::kStopped && !seen.can_wake)
      if (const auto* gate = gates_.shut(gate_query(other, model::CloudOp::kStart), now.mono);
          gate != nullptr && gate->until > now.mono)
        wake = std::min(wake, gate->until);
    const auto& pool = policy_.pools[other.instance.pool];
    if (seen.phase == HostPhase::kReady && !seen.busy)
      wake = std::min(wake,
                      std::max(seen.since + pool.idle_timeout, now.mono + std::chrono::seconds(1)));
    out.hosts.push_back(std::move(seen));
  }
  return wake;
}

scheduler::HostView Dispatcher::view(const Host& host, Now now) const {
  const auto& instance = host.instance;
  const auto& record = instance.record;
  scheduler::HostView out;
  out.id = record.id;
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
  out.can_wake = can_wake(host, now);
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
  out.since = instance.since;
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
    if (!item.job) continue;
    if (out.heads.empty()) out.oldest = item.since;
    out.heads.push_back(item.arrival);
  }
  return out;
}

void Dispatcher::build_offerings() {
  offerings_.clear();
  for (std::uint32_t p = 0; p < policy_.pools.size(); ++p) {
    const auto& pool = policy_.pools[p];
    for (const auto& set_name : pool.sets) {
      const auto set = set_index(set_name);
      if (!set) continue;
      for (std::uint32_t t = 0; t < policy_.types.size(); ++t) {
        const auto& type = policy_.types[t];
        if (std::ranges::find(pool.types, type.name) == pool.types.end()) continue;
        scheduler::Offering offering;
        offering.pool = p;
        offering.set = *set;
        offering.type = t;
        offering.market = type.market;
        offering.resources = type.resources;
        const auto offer = [&](const std::string& zone) {
          offering.zone = zone;
          offering.price_per_hour = price_of(*set, t, zone, type.market);
          offerings_.push_back(offering);
        };
        if (type.zones.empty()) offer("");
        for (const auto& zone : type.zones) offer(zone);
      }
    }
  }
}

}  // namespace hostler::dispatch
