#include "core/dispatch/state/running_limits.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "core/base/units.h"
#include "core/scheduler/fit.h"

namespace hostler::dispatch {

using scheduler::ClassId;

/// Of the menu, and of the hosts that there are: they may have been bought at other prices.
RunningLimits::HostPrices RunningLimits::host_prices() const {
  HostPrices out;
  for (const auto& offering : menu_.offerings())
    out.push_back({offering.price_per_hour, offering.price_per_hour});
  for (const auto& host : hosts_.views()) {
    if (host.offering >= out.size() || host.phase > scheduler::HostPhase::kStopped) continue;
    scheduler::PartPrices& known = out[host.offering];
    known.least = std::min(known.least, host.price_per_hour);
    known.most = std::max(known.most, host.price_per_hour);
  }
  return out;
}

/// By the hosts that the site has or would buy, now or later: gates and ceilings come and go.
std::optional<scheduler::PartPrices> RunningLimits::prices(ClassId cls,
                                                           const HostPrices& of_hosts) const {
  std::optional<scheduler::PartPrices> out;
  const auto& shape = jobs_.queue().at(cls).shape;
  for (std::size_t i = 0; i < of_hosts.size(); ++i) {
    const auto& offering = menu_.offerings()[i];
    if (!shape.needs.fits_in(offering.resources) ||
        !scheduler::meets(shape.constraints, policy_.types[offering.type].name, offering.zone,
                          offering.market))
      continue;
    const auto part = [&](model::Micros of_host) {
      return scheduler::price_of_part(of_host, shape.needs, offering.resources);
    };
    const scheduler::PartPrices one{part(of_hosts[i].least), part(of_hosts[i].most)};
    if (!out) out = one;
    out->least = std::min(out->least, one.least);
    out->most = std::max(out->most, one.most);
  }
  if (out) out->from = plan_.supply(cls).part_from;
  return out;
}

scheduler::CapRules RunningLimits::rules() const {
  struct Known {
    HostPrices of_hosts;
    std::unordered_map<ClassId, std::optional<scheduler::PartPrices>> of_class;
  };
  return {.prices =
              [this, known = std::make_shared<Known>()](ClassId cls) {
                if (known->of_hosts.empty()) known->of_hosts = host_prices();
                const auto [at, fresh] = known->of_class.try_emplace(cls);
                if (fresh) at->second = prices(cls, known->of_hosts);
                return at->second;
              },
          .is_stuck = [this](ClassId cls) { return plan_.supply(cls).is_stuck; }};
}

scheduler::LaneCaps RunningLimits::caps() const {
  if (!jobs_.queue().has_limits()) return {};
  return scheduler::cap_lanes(jobs_.queue(), rules());
}

scheduler::LaneCaps RunningLimits::caps_of(scheduler::PrincipalId principal,
                                           const scheduler::CapRules& rules) const {
  scheduler::LaneCaps out;
  if (jobs_.queue().count(principal) > 0)
    scheduler::cap_lanes_of(jobs_.queue(), principal, rules, out);
  return out;
}

std::string RunningLimits::reason(const work::Job& job, const scheduler::CapRules& rules) const {
  const std::string& who = jobs_.principal_of(job);
  const auto vcpus = jobs_.queue().at(job.cls).shape.needs.vcpus;
  const auto part = rules.prices(job.cls);
  const model::Quota quota = policy_.quotas.of(who);
  const auto held = jobs_.shares().held(job.principal);
  const auto& limit = quota.running_vcpus_max;
  const auto& price = quota.running_price_per_hour_max;
  if (limit && vcpus > *limit)
    return "it needs " + to_string(vcpus) + " vcpus, and running_vcpus_max of " + who + " is " +
           to_string(*limit) + ": it cannot start with this limit";
  if (price && part && part->least > *price)
    return "its part of the cheapest host costs " + format_money(part->least.value) +
           " per hour, and running_price_per_hour_max of " + who + " is " +
           format_money(price->value) + ": it cannot start with this limit";
  std::string out;
  const auto say = [&](const std::string& now, const std::string& most, const std::string& what) {
    out += (out.empty() ? who + " runs " : ", and ") + now + " of " + most + " " + what;
  };
  const bool lacks_vcpus = limit && held.vcpus + vcpus > *limit;
  const bool lacks_price = price && part && held.price_per_hour + part->least > *price;
  const bool is_alone = !lacks_vcpus && !lacks_price;
  if (limit && (lacks_vcpus || is_alone))
    say(to_string(held.vcpus), to_string(*limit), "vcpus (running_vcpus_max)");
  if (price && (lacks_price || is_alone))
    say(format_money(held.price_per_hour.value), format_money(price->value),
        "per hour (running_price_per_hour_max)");
  return is_alone ? out + "; earlier jobs of " + who + " take the rest" : out;
}

}  // namespace hostler::dispatch
