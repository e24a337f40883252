#include <algorithm>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// Hosts switched off and on: what plans want of it, and the calls.
namespace hostler::dispatch {

using model::CloudOp;
using model::InstanceState;

void Dispatcher::carry_out(scheduler::Wake wake, Now now) {
  Host* chosen = change(wake.host);
  if (chosen == nullptr || !can_wake(*chosen) ||
      gates_.shut(gate_query(*chosen, CloudOp::kStart), now.mono) != nullptr)
    return;
  const bool still_needed =
      wake.load.empty() || std::ranges::any_of(wake.load, [&](const scheduler::Load& load) {
        return queue_.at(load.cls).count > 0;
      });
  if (!still_needed) return;
  chosen->load = std::move(wake.load);
  settle(*chosen,
         fleet::switch_on(chosen->instance, wake.reason, policy_.pools[chosen->instance.pool], now),
         "scheduler", now);
  plan_soon();  // A pool's max counts what is on.
}

void Dispatcher::carry_out(const std::vector<scheduler::SwitchOff>& all, Now now) {
  if (all.empty()) return;
  std::vector<std::int32_t> standby(policy_.pools.size());
  for (const auto& [id, other] : hosts_) {
    if (other.instance.record.state != InstanceState::kStopped) continue;
    if (view(other).is_standby()) ++standby[other.instance.pool];
  }
  for (const auto& off : all) {
    Host* chosen = change(off.host);
    if (chosen == nullptr) continue;
    const auto& instance = chosen->instance;
    const auto& pool = policy_.pools[instance.pool];
    if (!instance.empty() || !instance.takes_work() || standby[instance.pool] >= pool.stopped ||
        now.mono - instance.since < pool.idle_timeout || !sets_[instance.set].open ||
        !can_stop(instance.set, instance.record.type, instance.record.market))
      continue;
    ++standby[instance.pool];
    settle(*chosen, fleet::switch_off(chosen->instance, model::Reason::kIdle, off.reason, now),
           "scheduler", now);
    plan_soon();
  }
}

/// The order stands in the record's state; a call that cannot leave now is made when the record's
/// deadline, or a list that shows otherwise, brings it up again.
void Dispatcher::send_power(Host& host, CloudOp op, Now now) {
  auto& instance = host.instance;
  if (host.power_under_way) return;
  const auto query = gate_query(host, op);
  const auto* gate = gates_.shut(query, now.mono);
  if (gate != nullptr || !sets_[instance.set].open) {
    if (op == CloudOp::kStop)
      instance.deadline =
          std::max(gate != nullptr ? gate->until : Mono{}, now.mono + std::chrono::seconds(1));
    return;
  }
  gates_.passing(query, now.mono);
  host.power_under_way = query;
  out_.effects.emplace_back(PowerCall{instance.record.set,
                                      instance.record.id,
                                      op == CloudOp::kStart,
                                      {.id = instance.record.provider_id,
                                       .expected_set_id = instance.record.set,
                                       .reason = to_string(instance.record.reason_code)},
                                      policy_.sets[instance.set].power_timeout});
}

void Dispatcher::on(PowerEnded& event, Now now) {
  Host* found = change(event.instance);
  if (found == nullptr || !found->power_under_way) return;
  const auto query = *std::exchange(found->power_under_way, {});
  const model::CloudError* error = event.error ? &*event.error : nullptr;
  if (error != nullptr)
    refused(query, *error, now);
  else
    passed(query, now);
  if (error != nullptr && query.op == CloudOp::kStop && fleet::is_final(*error))
    never_stops(*found, *error, now);
  auto& instance = found->instance;
  settle(*found,
         query.op == CloudOp::kStart
             ? fleet::start_answered(instance, error, now)
             : fleet::stop_answered(instance, error, policy_.pools[instance.pool], now),
         "cloud", now);
  plan_soon();
}

bool Dispatcher::has_power(std::uint32_t set, model::Market market) const {
  const auto& info = sets_[set].info;
  // A spot instance that is stopped is given back.
  return info.stop && info.has_power && market == model::Market::kOnDemand;
}

bool Dispatcher::can_stop(std::uint32_t set, const std::string& type, model::Market market) const {
  return has_power(set, market) && !unstoppable_.contains({set, type});
}

bool Dispatcher::can_wake(const Host& host) const {
  const auto& instance = host.instance;
  const Set& set = sets_[instance.set];
  return instance.record.state == InstanceState::kStopped && instance.seen_stopped &&
         instance.record.idle_behavior == model::IdleBehavior::kRun && !host.power_under_way &&
         set.open && !set.foreign && has_power(instance.set, instance.record.market);
}

/// Others of its type would only be made, found out and destroyed, over and over.
void Dispatcher::never_stops(const Host& host, const model::CloudError& error, Now now) {
  const auto& type = host.instance.record.type;
  if (!unstoppable_.emplace(host.instance.set, type).second) return;
  touch_all();
  record("cloud", "set " + host.instance.record.set, model::Event::kCannotStop, type, error.message,
         now);
}

}  // namespace hostler::dispatch
