#include "core/dispatch/handlers/power_actions.h"

#include <algorithm>
#include <utility>

#include "core/scheduler/shutdown_rule.h"

namespace hostler::dispatch {

void PowerActions::apply(scheduler::Wake wake, Now now) {
  Host* host = hosts_.change(wake.host);
  if (host == nullptr || !viewer_.can_wake(*host) ||
      gates_.shut(gates_.query(*host, model::CloudOp::kStart), now.mono) != nullptr)
    return;
  const bool still_needed = wake.load.empty() || wake.displaced ||
                            std::ranges::any_of(wake.load, [&](const demand::Load& load) {
                              return waiting_.queue().waits(load.cls);
                            });
  if (!still_needed) return;
  host->made_for = MadeFor(std::move(wake.load), /*for_exchange=*/false);
  steps_.apply(
      *host, fleet::switch_on(host->instance, wake.reason, policy_.pools[host->instance.pool], now),
      "scheduler", now);
  plan_.want();  // A pool's max counts the hosts that are on.
}

void PowerActions::apply(const std::vector<scheduler::SwitchOff>& all, Now now) {
  if (all.empty()) return;
  std::vector<std::int64_t> standby(policy_.pools.size());
  for (const auto& [id, other] : hosts_.all()) {
    if (other.instance.record.state != model::InstanceState::kStopped) continue;
    if (viewer_.view(other).is_standby()) ++standby[other.instance.pool];
  }
  for (const auto& off : all) {
    Host* host = hosts_.change(off.host);
    if (host == nullptr) continue;
    const std::uint32_t pool = host->instance.pool;
    if (standby[pool] >= bounds_.off_max(policy_, pool) || !may_switch_off(*host, off.code, now))
      continue;
    ++standby[pool];
    steps_.apply(*host, fleet::switch_off(host->instance, off.code, off.reason, now), "scheduler",
                 now);
    plan_.want();
  }
}

bool PowerActions::may_switch_off(const Host& host, model::Reason code, Now now) const {
  const auto& instance = host.instance;
  const auto view = viewer_.view(host);
  const bool is_drained = view.drain == scheduler::DrainPhase::kOver;
  return scheduler::still_true(code, view, host.closed, policy_.pools[instance.pool], now.mono) &&
         (is_drained || view.takes_work) && !view.draining && !view.kept && view.can_stop &&
         sets_.at(instance.set).is_open();
}

}  // namespace hostler::dispatch
