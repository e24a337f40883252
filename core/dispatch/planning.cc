#include <algorithm>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// Snapshots for the planner, and its plans applied to a world that may have moved on.
namespace hostler::dispatch {

using model::InstanceState;
using scheduler::HostPhase;

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

scheduler::HostView Dispatcher::view(const Host& host, Now now) const {
  const auto& instance = host.instance;
  const auto& record = instance.record;
  scheduler::HostView out;
  out.id = record.id;
  out.pool = instance.pool;
  switch (record.state) {
    case InstanceState::kRequested:
    case InstanceState::kBooting:
    case InstanceState::kUnknown:
      out.phase = HostPhase::kComing;
      break;
    case InstanceState::kIdle:
    case InstanceState::kBusy:
      out.phase = HostPhase::kReady;
      break;
    case InstanceState::kStopped:
      out.phase = HostPhase::kStopped;
      break;
    case InstanceState::kTerminating:
    case InstanceState::kAbandoned:
    case InstanceState::kGone:
      out.phase = HostPhase::kLeaving;
      break;
  }
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

std::shared_ptr<scheduler::Snapshot> Dispatcher::snapshot(Now now) {
  auto out = std::make_shared<scheduler::Snapshot>();
  out->now = now.mono;
  out->offerings = offerings_;
  // Pools may share a set and a type, but neither caps nor timers.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>;
  std::map<Key, std::uint32_t> index;
  Mono wake = fleet::kNever;
  for (std::uint32_t i = 0; i < out->offerings.size(); ++i) {
    auto& offering = out->offerings[i];
    index.try_emplace({offering.pool, offering.set, offering.type, offering.zone}, i);
    const Set& set = sets_[offering.set];
    offering.can_stop = can_stop(offering.set, policy_.types[offering.type].name, offering.market);
    if (!set.open) {
      offering.shut = "the set is not open" + (set.problem.empty() ? "" : ": " + set.problem);
    } else if (set.foreign) {
      offering.shut = set.problem;
    } else {
      if (const auto* gate = gates_.shut(gate_query(offering), now.mono)) {
        offering.shut = gate->record.message.empty() ? "a gate is shut" : gate->record.message;
        if (gate->until > now.mono) wake = std::min(wake, gate->until);
      }
    }
  }
  out->hosts.reserve(hosts_.size());
  for (const auto& [id, other] : hosts_) {
    auto seen = view(other, now);
    const auto& pool = policy_.pools[other.instance.pool];
    if (other.instance.type) {
      const auto& instance = other.instance;
      auto found = index.find({instance.pool, instance.set, *instance.type, instance.record.zone});
      if (found == index.end())
        found = index.lower_bound({instance.pool, instance.set, *instance.type, ""});
      if (found != index.end() && offerings_[found->second].pool == instance.pool &&
          offerings_[found->second].set == instance.set &&
          offerings_[found->second].type == *instance.type)
        seen.offering = found->second;
    }
    if (seen.phase == HostPhase::kStopped && !seen.can_wake)
      if (const auto* gate = gates_.shut(gate_query(other, model::CloudOp::kStart), now.mono);
          gate != nullptr && gate->until > now.mono)
        wake = std::min(wake, gate->until);
    if (seen.phase == HostPhase::kReady && !seen.busy)
      wake = std::min(wake,
                      std::max(seen.since + pool.idle_timeout, now.mono + std::chrono::seconds(1)));
    out->hosts.push_back(std::move(seen));
  }
  for (const auto& order : queue_.order()) {
    const auto& klass = queue_.at(order.cls);
    scheduler::ClassView seen{.id = order.cls, .shape = klass.shape, .count = klass.count};
    bool first = true;
    for (const auto& item : klass.items) {
      if (seen.heads.size() >= 32) break;
      if (!item.job) continue;
      if (std::exchange(first, false)) seen.oldest = item.since;
      seen.heads.push_back(item.arrival);
    }
    wake = std::min(wake, now.mono + std::chrono::seconds(10));
    out->classes.push_back(std::move(seen));
  }
  out->site = governor_.site(now.mono);
  for (std::uint32_t i = 0; i < sets_.size(); ++i) out->sets.push_back(governor_.set(i, now.mono));
  for (std::uint32_t i = 0; i < policy_.pools.size(); ++i)
    out->pools.push_back(governor_.pool(i, now.mono));
  if (const auto next = governor_.next_create(now.mono)) wake = std::min(wake, *next);
  plan_wake_ = wake;
  return out;
}

void Dispatcher::plan(Now now) {
  plan_wanted_ = false;
  planning_ = true;
  out_.effects.emplace_back(MakePlan{++plan_number_, snapshot(now), plan_policy_});
  plan_not_before_ = now.mono + policy_.plan_interval;
}

/// The world may have moved on since the snapshot: a host is never ended as work lands on it, nor
/// against a hold, nor for what is not so any more.
bool Dispatcher::still_holds(const scheduler::Shutdown& shutdown, const Host& host, Now now) const {
  const auto& instance = host.instance;
  if (instance.record.idle_behavior == model::IdleBehavior::kHold) return false;
  const auto& pool = policy_.pools[instance.pool];
  if (shutdown.code == scheduler::ShutdownCode::kUnreachable)
    return instance.unreachable_since &&
           now.mono - *instance.unreachable_since >= pool.probe_timeout;
  if (shutdown.code == scheduler::ShutdownCode::kIdle &&
      now.mono - instance.since < pool.idle_timeout)
    return false;
  if (shutdown.code == scheduler::ShutdownCode::kBootingSurplus &&
      instance.record.state == InstanceState::kUnknown)
    return false;
  if (shutdown.code == scheduler::ShutdownCode::kStandbySurplus &&
      instance.record.state != InstanceState::kStopped)
    return false;
  return instance.empty();
}

void Dispatcher::on(PlanMade& event, Now now) {
  if (event.number != plan_number_) return;
  planning_ = false;
  governor_.begin_decision();
  for (const auto& place_one : event.plan.places) {
    Host* chosen = host(place_one.host);
    if (chosen == nullptr) continue;
    for (std::uint32_t i = 0; i < place_one.count; ++i)
      if (!place(*chosen, place_one.cls, now)) break;
    settle(*chosen, fleet::work_changed(chosen->instance, now), "scheduler", now);
  }
  for (const auto& shutdown : event.plan.shutdowns) {
    Host* chosen = host(shutdown.host);
    if (chosen == nullptr || !still_holds(shutdown, *chosen, now)) continue;
    const auto& instance = chosen->instance;
    if (!governor_.refuses_destroy(instance.set, instance.pool).empty()) {
      plan_wanted_ = true;
      continue;
    }
    governor_.destroy_decided(instance.set, instance.pool);
    settle(*chosen,
           fleet::terminate(chosen->instance, scheduler::to_string(shutdown.code), shutdown.reason,
                            now),
           "scheduler", now);
  }
  for (auto& [id, other] : hosts_) other.reserved_for.reset();
  for (const auto& reserve : event.plan.reservations)
    if (Host* chosen = host(reserve.host)) chosen->reserved_for = reserve.cls;
  apply(event.plan.switch_offs, now);
  for (auto& one : event.plan.wakes) apply(std::move(one), now);
  for (const auto& create : event.plan.creates) create_host(create, now);
  // What these left no room for may be created then.
  if (const auto next = governor_.next_create(now.mono)) plan_wake_ = std::min(plan_wake_, *next);
  waiting_.clear();
  for (auto& one : event.plan.waiting) waiting_[one.cls] = std::move(one);
  rejected_.clear();
  for (auto& one : event.plan.rejected) {
    auto& list = rejected_[one.cls];
    if (list.size() < 32) list.push_back(std::move(one));
  }
}

/// Intent first: the whole request is journalled with its key, the call leaves once that is
/// durable.
void Dispatcher::create_host(const scheduler::Create& create, Now now) {
  if (create.offering >= offerings_.size()) return;
  const auto& offering = offerings_[create.offering];
  const Set& set = sets_[offering.set];
  const auto& type = policy_.types[offering.type];
  const auto& pool = policy_.pools[offering.pool];
  if (create.for_class && queue_.at(*create.for_class).count == 0) return;
  if (!set.open || set.foreign) return;
  if (!governor_.refuses_create(offering.set, offering.pool, offering.price_per_hour, now.mono)
           .empty())
    return;
  const model::InstanceId id{last_instance_ + 1};
  Host made;
  auto& r = made.instance.record;
  r.id = id;
  r.set = set.name;
  r.pool = pool.name;
  r.type = type.name;
  r.zone = offering.zone;
  r.market = offering.market;
  r.price_per_hour = offering.price_per_hour;
  r.total = type.resources;
  r.epoch = epoch_;
  r.created = r.state_since = now.wall;
  r.reason = create.reason;
  made.instance.set = offering.set;
  made.instance.pool = offering.pool;
  made.instance.type = offering.type;
  made.instance.created = made.instance.since = now.mono;
  if (gates_.shut(gate_query(made, model::CloudOp::kCreate), now.mono) != nullptr) return;

  auto request = std::make_shared<model::CreateRequest>();
  request->host_instance_id = id.text();
  request->owner = owner_;
  request->epoch = epoch_;
  request->type = type;
  request->region = policy_.sets[offering.set].region;
  request->zone = offering.zone;
  request->price_cap_per_hour = pool.price_cap_per_hour;
  request->name_hint = "hostler-" + pool.name + "-" + id.text();
  mint_(pool, set.name, set.info, *request, r.identity);
  r.idempotency_key = request->idempotency_key;
  request->tags = policy_.sets[offering.set].tags;
  request->tags[model::tag::kSet] = set.name;
  request->tags[model::tag::kOwner] = owner_;
  request->tags[model::tag::kPool] = pool.name;
  request->tags[model::tag::kEpoch] = std::to_string(epoch_);
  request->tags[model::tag::kKey] = request->idempotency_key;
  request->tags[model::tag::kType] = type.name;
  request->tags[model::tag::kIdle] = "run";
  made.create = request;
  made.load = create.load;

  last_instance_ = id.value;
  by_key_[r.idempotency_key] = id;
  count(made);
  record("scheduler", id.text(), "create_intended", type.name, create.reason, now);
  decided(offering.pool);
  out_.changes.emplace_back(model::InstanceChanged{r, request, false});
  auto [placed_at, fresh] = hosts_.emplace(id, std::move(made));
  (void)fresh;
  send_create(placed_at->second, now);
}

}  // namespace hostler::dispatch
