#include "core/dispatch/state/running_limits.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "core/demand/running_limits.h"
#include "core/scheduler/fit.h"

namespace hostler::dispatch {

using demand::ClassId;

/// Of the menu, and of the hosts that there are: they may have been bought at other prices.
RunningLimits::HostPrices RunningLimits::host_prices() const {
  HostPrices out;
  for (const auto& offering : menu_.offerings())
    out.push_back({offering.price_per_hour, offering.price_per_hour});
  for (const auto& host : hosts_.views()) {
    if (host.offering >= out.size() || host.phase > scheduler::HostPhase::kStopped) continue;
    PriceRange& known = out[host.offering];
    known.least = std::min(known.least, host.price_per_hour);
    known.most = std::max(known.most, host.price_per_hour);
  }
  return out;
}

/// By the hosts that the site has or would buy, now or later: gates and ceilings come and go.
std::optional<demand::PartRange> RunningLimits::parts(ClassId cls,
                                                      const HostPrices& of_hosts) const {
  std::optional<demand::PartRange> out;
  const auto& of = waiting_.queue().at(cls);
  const auto& shape = of.shape;
  for (std::size_t i = 0; i < of_hosts.size(); ++i) {
    const auto& offering = menu_.offerings()[i];
    const auto& pool = policy_.pools[offering.pool];
    const auto& type = policy_.types[offering.type];
    if (!scheduler::fits(shape, of.kind, offering, policy_)) continue;
    const auto& held = demand::held_by(shape, offering.resources);
    for (const model::Micros of_host : {of_hosts[i].least, of_hosts[i].most}) {
      const auto part = model::Amounts::of(
          held,
          demand::price_of_part(of_host, held, offering.resources, model::jobs_max_of(pool, type)));
      if (!out) out = {part, part};
      out->add(part);
    }
  }
  if (out) out->from = plan_.supply(cls).part_from;
  return out;
}

demand::CapRules RunningLimits::rules() const {
  struct Known {
    HostPrices of_hosts;
    std::unordered_map<ClassId, std::optional<demand::PartRange>> of_class;
  };
  return {.parts =
              [this, known = std::make_shared<Known>()](ClassId cls) {
                if (known->of_hosts.empty()) known->of_hosts = host_prices();
                const auto [at, fresh] = known->of_class.try_emplace(cls);
                if (fresh) at->second = parts(cls, known->of_hosts);
                return at->second;
              },
          .is_stuck = [this](ClassId cls) { return plan_.supply(cls).is_stuck; }};
}

demand::LaneCaps RunningLimits::caps() const {
  if (!waiting_.queue().has_limits()) return {};
  return demand::cap_lanes(waiting_.queue(), rules());
}

demand::LaneCaps RunningLimits::caps_of(demand::PrincipalId principal,
                                        const demand::CapRules& rules) const {
  demand::LaneCaps out;
  if (waiting_.queue().count(principal) > 0)
    demand::cap_lanes_of(waiting_.queue(), principal, rules, out);
  return out;
}

std::string RunningLimits::reason(const WaitingWork::Place& work,
                                  const demand::CapRules& rules) const {
  const std::string& who = principals_.name(work.principal);
  const auto range = rules.parts(work.cls);
  const auto& needs = waiting_.queue().at(work.cls).shape.needs;
  return demand::reason_of({.principal = who,
                            .part = range ? range->least : model::Amounts::of(needs, {}),
                            .quota = policy_.quotas.of(who),
                            .held = principals_.shares().held(work.principal)});
}

}  // namespace hostler::dispatch
