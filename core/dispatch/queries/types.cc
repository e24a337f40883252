#include <algorithm>
#include <set>
#include <utility>

#include "core/dispatch/queries.h"
#include "core/dispatch/state/state.h"

/// The types that can be bought, and what pools choose of those that are offered.
namespace hostler::dispatch {
namespace {

/// What excluded so many types, for people.
std::string told(Excluded why, std::size_t count) {
  const std::string n = std::to_string(count);
  switch (why) {
    case Excluded::kSizeUnknown:
      return n + " as their vcpus or their ram are not known";
    case Excluded::kNoPrice:
      return n + " as no price is known";
    case Excluded::kNoExchangeRate:
      return n + " as `exchange_rates` has no rate for their price";
    case Excluded::kTooMany:
      return n + " as a pool has " + std::to_string(Selection::kOfferingsMax) +
             " types at most, each counted once for each zone";
    default:
      return n + " by `" + to_string(why) + "`";
  }
}

std::string text_of(const Selection& selection, const std::vector<std::string>& unknown) {
  std::string out = "its `types` choose " + std::to_string(selection.selected) + " of " +
                    std::to_string(selection.offered) + " that its sets offer";
  std::string rest;
  for (const auto& [why, count] : selection.excluded)
    rest += (rest.empty() ? "; not chosen: " : ", ") + told(why, count);
  out += rest;
  std::string names;
  for (const auto& set : unknown) names += (names.empty() ? "" : ", ") + set;
  if (!names.empty()) out += "; not known yet is what is offered by " + names;
  return out;
}

}  // namespace

std::optional<model::SelectionView> Queries::selection(std::uint32_t pool) const {
  const auto found = state_.effective.selections.find(pool);
  if (found == state_.effective.selections.end()) return std::nullopt;
  const Selection& selection = found->second;
  model::SelectionView out{.offered = selection.offered, .selected = selection.selected};
  for (const auto& [why, count] : selection.excluded) out.excluded[to_string(why)] = count;
  for (const auto& name : state_.policy.pools[pool].sets)
    if (state_.offered.is_unknown(name)) out.unknown.push_back(name);
  out.text = text_of(selection, out.unknown);
  return out;
}

std::string Queries::selections_that_are_empty() const {
  std::string out;
  for (const auto& [pool, selection] : state_.effective.selections)
    if (selection.selected == 0)
      out += "; pool " + state_.policy.pools[pool].name + ": " + this->selection(pool)->text;
  return out;
}

std::vector<model::TypeView> Queries::types() const {
  std::vector<model::TypeView> out;
  for (const auto& type : state_.policy.types)
    out.push_back({.name = type.name,
                   .provider_type = type.provider_type,
                   .set = type.only_in,
                   .market = type.market,
                   .resources = type.resources,
                   .gpu_groups = type.gpu_groups,
                   .price_per_hour = type.price_per_hour,
                   .configured = type.only_in.empty()});
  for (const auto& offering : state_.menu.offerings()) {
    auto& view = out[offering.type];
    const std::int64_t ram = offering.resources.ram;
    view.ram_for_jobs = view.pools.empty() ? ram : std::min(view.ram_for_jobs, ram);
    const auto& pool = state_.policy.pools[offering.pool].name;
    if (view.pools.empty() || view.pools.back() != pool) view.pools.push_back(pool);
    const model::TypeView::Zone seen{
        offering.zone, offering.price_per_hour,
        state_.offered.is_unavailable(state_.policy.types[offering.type], offering.zone),
        !state_.menu.clouds_price_of(offering.set, offering.type, offering.zone, offering.market)};
    auto known = std::ranges::find(view.zones, offering.zone, &model::TypeView::Zone::name);
    if (known == view.zones.end())
      view.zones.push_back(seen);
    else if (known->price_per_hour < seen.price_per_hour)
      *known = seen;
  }
  for (auto& view : out) {
    const auto dearest =
        std::ranges::max_element(view.zones, {}, &model::TypeView::Zone::price_per_hour);
    if (dearest == view.zones.end()) continue;
    view.price_per_hour = dearest->price_per_hour;
    view.configured = dearest->configured;
  }
  return out;
}

std::optional<model::OfferingsView> Queries::offerings(std::uint32_t set) const {
  if (!state_.offered.asked().contains(set)) return std::nullopt;
  const auto& name = state_.policy.sets[set].name;
  const auto* known = state_.offered.find(name);
  if (known == nullptr) return std::nullopt;
  return model::OfferingsView{.types = state_.offered.count_types(name),
                              .fetched = known->fetched,
                              .problem = known->problem,
                              .ignored = known->ignored};
}

}  // namespace hostler::dispatch
