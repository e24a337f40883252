#include "core/dispatch/state/questions/offered_groups.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "core/model/currency.h"

namespace hostler::dispatch {

using model::Micros;
using model::OfferedRow;

namespace {

/// Of the file: by zone, else for every zone.
std::optional<Micros> file_price(const model::SetPolicy& set, const OfferedRow& row) {
  std::optional<Micros> of_all;
  const auto key = [](const auto& one) { return std::tie(one.provider_type, one.market); };
  const auto type = std::tie(row.provider_type, row.market);
  auto at = std::ranges::lower_bound(set.file_prices, type, std::less<>(), key);
  for (; at != set.file_prices.end() && key(*at) == type; ++at) {
    if (at->zone == row.zone) return at->price_per_hour;
    if (at->zone.empty()) of_all = at->price_per_hour;
  }
  return of_all;
}

void add(OfferedGroup& group, const OfferedRow& row, const model::SitePolicy& site,
         const model::SetPolicy& set) {
  group.rows.push_back(&row);
  group.has_price |= row.has_price;
  const auto rate = model::rate_of(site, row.currency);
  if (row.has_price && rate)
    group.prices[row.zone] = model::to_site(row.price_per_hour, *rate);
  else if (const auto price = file_price(set, row))
    group.prices[row.zone] = *price;
}

}  // namespace

const OfferedRow& OfferedGroup::sized() const {
  for (const auto* row : rows)
    if (row->resources.vcpus > 0 && row->resources.ram > 0) return *row;
  return first();
}

std::string OfferedGroup::architecture() const {
  for (const auto* row : rows)
    if (!row->architecture.empty()) return row->architecture;
  return {};
}

Micros OfferedGroup::least_price() const {
  Micros least{INT64_MAX};
  for (const auto& [zone, price] : prices) least = std::min(least, price);
  return least;
}

std::vector<OfferedGroup> offered_groups(const OfferedTypes::OfSet& offered,
                                         const model::SitePolicy& site,
                                         const model::SetPolicy& set) {
  std::vector<OfferedGroup> out;
  for (const auto& [key, known] : offered.rows) {
    const OfferedRow& row = known.row;
    if (out.empty() || out.back().first().provider_type != row.provider_type ||
        out.back().first().market != row.market)
      out.emplace_back();
    add(out.back(), row, site, set);
  }
  return out;
}

}  // namespace hostler::dispatch
