#include "core/dispatch/dispatcher.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace hostler::dispatch {

Dispatcher::Dispatcher(model::SitePolicy policy, Mint mint, Options options)
    : policy_(std::move(policy)),
      plan_policy_(std::make_shared<const model::SitePolicy>(policy_)),
      mint_(std::move(mint)),
      options_(std::move(options)),
      random_(options_.seed),
      governor_(policy_) {
  for (const auto& set : policy_.sets) sets_.emplace_back().name = set.name;
  build_offerings();
}

Outbox Dispatcher::apply(Event event, Now now) {
  std::visit([&](auto& body) { on(body, now); }, event);
  return take_outbox();
}

Outbox Dispatcher::tick(Now now) {
  fire_timers(now);
  look_at_touched();  // A plan made below is to know what the timers did.
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    Set& set = sets_[i];
    if (!set.open && !set.opening && set.open_at <= now.mono) {
      set.opening = true;
      out_.effects.emplace_back(OpenSet{set.name});
    }
    if (set.open && set.prices_at <= now.mono) ask_for_prices(i, now);
    if (set.open && !set.listing && set.list_at <= now.mono) send_list(i, now);
  }
  const bool due = plan_wanted_ || plan_wake_ <= now.mono;
  if (due && !planning_ && plan_not_before_ <= now.mono) plan(now);
  return take_outbox();
}

Outbox Dispatcher::take_outbox() {
  look_at_touched();
  return std::exchange(out_, {});
}

Mono Dispatcher::next_wake() const {
  Mono next = timers_.empty() ? fleet::kNever : timers_.begin()->first;
  for (const Set& set : sets_) {
    if (!set.open && !set.opening) next = std::min(next, set.open_at);
    if (set.open && !set.listing) next = std::min(next, set.list_at);
    if (set.open) next = std::min(next, set.prices_at);
  }
  if (!planning_) {
    const Mono plan_at = plan_wanted_ ? Mono{} : plan_wake_;
    if (plan_at != fleet::kNever) next = std::min(next, std::max(plan_at, plan_not_before_));
  }
  return next;
}

void Dispatcher::fire_timers(Now now) {
  while (!timers_.empty() && timers_.begin()->first <= now.mono) {
    const model::InstanceId id = timers_.begin()->second;
    timers_.erase(timers_.begin());
    timer_of_.erase(id);
    Host* due = change(id);
    if (due == nullptr) continue;
    const auto& pool = policy_.pools[due->instance.pool];
    settle(*due, fleet::due(due->instance, pool, now), "timer", now);
  }
}

void Dispatcher::schedule(Host& host) {
  const model::InstanceId id = host.instance.record.id;
  const Mono deadline = host.instance.deadline;
  const auto known = timer_of_.find(id);
  if (known != timer_of_.end()) {
    if (known->second == deadline) return;
    timers_.erase({known->second, id});
    timer_of_.erase(known);
  }
  if (deadline == fleet::kNever) return;
  timers_.emplace(deadline, id);
  timer_of_.emplace(id, deadline);
}

model::Revision Dispatcher::record(const char* actor, std::string subject, model::Event event,
                                   std::string code, std::string reason, Now now) {
  model::LedgerRecord entry;
  entry.rev = ++revision_;
  entry.time = now.wall;
  entry.epoch = epoch_;
  entry.actor = actor;
  entry.subject = std::move(subject);
  entry.event = event;
  entry.reason_code = std::move(code);
  entry.reason = std::move(reason);
  out_.changes.emplace_back(std::move(entry));
  return revision_;
}

std::optional<std::uint32_t> Dispatcher::set_index(const std::string& name) const {
  for (std::uint32_t i = 0; i < sets_.size(); ++i)
    if (sets_[i].name == name) return i;
  return std::nullopt;
}

std::optional<std::uint32_t> Dispatcher::type_index(const std::string& name) const {
  for (std::uint32_t i = 0; i < policy_.types.size(); ++i)
    if (policy_.types[i].name == name) return i;
  return std::nullopt;
}

}  // namespace hostler::dispatch
