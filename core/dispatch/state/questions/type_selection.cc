#include "core/dispatch/state/questions/type_selection.h"

#include <algorithm>
#include <tuple>

#include "core/dispatch/state/questions/offered_groups.h"

namespace hostler::dispatch {

using model::OfferedRow;
using model::TypeSelector;

namespace {

bool is_like_any(const std::string& text, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const auto& one) { return is_like(text, one); });
}

std::optional<Excluded> excluded_by_gpus(const model::GpuSelector& wanted, const OfferedRow& row) {
  if (!wanted.is_of_group())
    return wanted.count.contains(row.resources.gpus) ? std::nullopt
                                                     : std::optional(Excluded::kGpus);
  if (row.resources.gpus == 0) return Excluded::kGpus;
  const auto has = [&](const model::GpuSelector& part) {
    return std::ranges::any_of(row.gpu_groups,
                               [&](const auto& group) { return part.meets(group); });
  };
  if (!has({.count = {}, .kind = wanted.kind})) return Excluded::kGpuKind;
  if (!has({.count = {}, .kind = wanted.kind, .memory = wanted.memory}))
    return Excluded::kGpuMemory;
  return has(wanted) ? std::nullopt : std::optional(Excluded::kGpus);
}

std::optional<Excluded> excluded_by_size(const TypeSelector& wanted, const OfferedRow& row) {
  const model::Resources& has = row.resources;
  if (has.vcpus.whole() <= 0 || has.ram <= 0) return Excluded::kSizeUnknown;
  if (!wanted.vcpus.contains(has.vcpus.whole())) return Excluded::kVcpus;
  if (const auto why = excluded_by_gpus(wanted.gpus, row)) return why;
  if (!wanted.ram.contains(has.ram)) return Excluded::kRam;
  if (!wanted.ram_per_vcpu.contains(has.ram / has.vcpus.whole())) return Excluded::kRamPerVcpu;
  if (!wanted.scratch.contains(has.scratch)) return Excluded::kScratch;
  return std::nullopt;
}

std::optional<Excluded> excluded_by(const TypeSelector& wanted, const OfferedGroup& group,
                                    bool in_use) {
  const OfferedRow& row = group.first();
  if (!wanted.names.empty() && !is_like_any(row.provider_type, wanted.names))
    return Excluded::kNames;
  if (is_like_any(row.provider_type, wanted.not_names)) return Excluded::kNotNames;
  if (wanted.market && *wanted.market != row.market) return Excluded::kMarket;
  const auto architecture = group.architecture();
  if (!wanted.architecture.empty() && !architecture.empty() && wanted.architecture != architecture)
    return Excluded::kArchitecture;
  if (const auto why = excluded_by_size(wanted, group.sized())) return why;
  if (group.prices.empty()) return group.has_price ? Excluded::kNoExchangeRate : Excluded::kNoPrice;
  if (!in_use && wanted.price_max && group.least_price() > *wanted.price_max)
    return Excluded::kPriceMax;
  return std::nullopt;
}

model::InstanceType type_of(const OfferedGroup& group) {
  const OfferedRow& row = group.first();
  model::InstanceType out;
  out.name = row.name;
  out.provider_type = row.provider_type;
  out.resources = group.sized().resources;
  out.resources.slots = std::min(out.resources.gpus, model::kSlotsMax);
  out.gpu_groups = group.sized().gpu_groups;
  out.market = row.market;
  out.only_in = row.set;
  for (const auto& [zone, price] : group.prices) {
    out.price_per_hour = std::max(out.price_per_hour, price);
    if (!zone.empty()) out.zones.push_back(zone);
  }
  return out;
}

using OfferingsBySet = std::map<std::string, std::size_t>;

/// How many offerings of each set the pool has. What a set leaves of its part is shared by those
/// that have more.
OfferingsBySet parts_of(const std::vector<const OfferedGroup*>& chosen) {
  OfferingsBySet out;
  for (const OfferedGroup* group : chosen) out[group->first().set] += group->prices.size();
  std::vector<std::size_t*> fewest_first;
  for (auto& [set, offerings] : out) fewest_first.push_back(&offerings);
  std::ranges::sort(fewest_first, {}, [](const std::size_t* offerings) { return *offerings; });
  std::size_t left = Selection::kOfferingsMax, sets = out.size();
  for (std::size_t* offerings : fewest_first) {
    *offerings = std::min(*offerings, left / sets--);
    left -= *offerings;
  }
  return out;
}

/// Chooses for one pool, and keeps what all pools have chosen.
class Selector {
 public:
  Selector(EffectivePolicy& out, const std::set<std::string>& in_use)
      : out_(out), in_use_(in_use) {}

  void run(std::uint32_t pool, const std::map<std::string, std::vector<OfferedGroup>>& offered) {
    model::PoolPolicy& policy = out_.site.pools[pool];
    Selection& selection = out_.selections[pool];
    std::vector<const OfferedGroup*> chosen;
    for (const auto& set : policy.sets)
      if (const auto found = offered.find(set); found != offered.end())
        for (const OfferedGroup& group : found->second) {
          ++selection.offered;
          if (const auto why = excluded_by(*policy.selector, group, is_in_use(group)))
            ++selection.excluded[*why];
          else
            chosen.push_back(&group);
        }
    cut(chosen, selection);
    for (const OfferedGroup* group : chosen) add_type(policy, *group);
    selection.selected = chosen.size();
    if (const auto most = policy.selector->price_max) {
      auto& cap = policy.price_cap_per_hour;
      cap = cap.value == 0 ? *most : std::min(cap, *most);
    }
  }

 private:
  [[nodiscard]] bool is_in_use(const OfferedGroup& group) const {
    return in_use_.contains(group.first().name);
  }

  void cut(std::vector<const OfferedGroup*>& chosen, Selection& selection) const {
    const auto rank = [&](const OfferedGroup* group) {
      return std::tuple(!is_in_use(*group), group->least_price().value, group->first().name);
    };
    std::ranges::sort(chosen, {}, rank);
    OfferingsBySet left = parts_of(chosen);
    const auto cut = std::erase_if(chosen, [&left](const OfferedGroup* group) {
      std::size_t& of_set = left[group->first().set];
      const bool fits = group->prices.size() <= of_set;
      of_set = fits ? of_set - group->prices.size() : 0;
      return !fits;
    });
    if (cut > 0) selection.excluded[Excluded::kTooMany] = cut;
  }

  void add_type(model::PoolPolicy& pool, const OfferedGroup& group) {
    const std::string& name = group.first().name;
    pool.types.push_back(name);
    if (!pool.selector->provider_params_json.empty())
      pool.provider_params[name] = pool.selector->provider_params_json;
    if (!added_.insert(name).second) return;
    out_.site.types.push_back(type_of(group));
    for (const auto& [zone, price] : group.prices)
      if (!zone.empty()) out_.site.zone_prices[{name, zone}] = price;
  }

  EffectivePolicy& out_;
  const std::set<std::string>& in_use_;
  std::set<std::string> added_;
};

}  // namespace

const char* to_string(Excluded why) {
  switch (why) {
    case Excluded::kNames:
      return "names";
    case Excluded::kNotNames:
      return "not_names";
    case Excluded::kMarket:
      return "market";
    case Excluded::kArchitecture:
      return "architecture";
    case Excluded::kSizeUnknown:
      return "size_unknown";
    case Excluded::kVcpus:
      return "vcpus";
    case Excluded::kGpus:
      return "gpus";
    case Excluded::kGpuKind:
      return "gpus.kind";
    case Excluded::kGpuMemory:
      return "gpus.memory";
    case Excluded::kRam:
      return "ram";
    case Excluded::kRamPerVcpu:
      return "ram_per_vcpu";
    case Excluded::kScratch:
      return "scratch";
    case Excluded::kNoPrice:
      return "no_price";
    case Excluded::kNoExchangeRate:
      return "no_exchange_rate";
    case Excluded::kPriceMax:
      return "price_max";
    case Excluded::kTooMany:
      return "too_many";
  }
  return "?";
}

bool is_like(const std::string& text, const std::string& pattern) {
  std::size_t t = 0, p = 0, star = std::string::npos, again = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      again = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++again;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

EffectivePolicy select_types(const model::SitePolicy& configured, const OfferedTypes& offered,
                             const std::set<std::string>& in_use) {
  EffectivePolicy out{configured, {}};
  std::map<std::string, std::vector<OfferedGroup>> groups;
  for (const std::uint32_t i : offered.asked()) {
    const auto& set = configured.sets[i];
    if (const auto* of = offered.find(set.name))
      groups[set.name] = offered_groups(*of, configured, set);
  }
  Selector selector(out, in_use);
  for (std::uint32_t p = 0; p < configured.pools.size(); ++p)
    if (configured.pools[p].selector) selector.run(p, groups);
  return out;
}

}  // namespace hostler::dispatch
