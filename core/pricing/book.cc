#include "core/pricing/book.h"

#include <algorithm>
#include <utility>

namespace hostler::pricing {

using model::Market;
using model::PricePoint;

std::vector<model::PriceRow> Book::take(const std::string& set, const std::string& type,
                                        const std::vector<model::ZonePrice>& reported, Wall now) {
  std::map<std::pair<Market, std::string>, std::vector<PricePoint>> by_place;
  for (const auto& one : reported)
    if (one.point.start <= now) by_place[{one.market, one.zone}].push_back(one.point);

  std::vector<model::PriceRow> news;
  std::size_t places = count(set, type);
  for (auto& [place, points] : by_place) {
    const auto& [market, zone] = place;
    const auto known = latest_.find({set, type, market, zone});
    if (known == latest_.end() && places++ >= kZonesMax) continue;
    PricePoint last = known == latest_.end() ? PricePoint{Wall{}, {-1}} : known->second;
    const History history = normalise(std::move(points));
    for (auto point = history.rbegin(); point != history.rend(); ++point) {
      if (point->start < last.start || point->per_hour == last.per_hour) continue;
      news.push_back({set, type, zone, market, *point});
      last = *point;
    }
    if (last.per_hour.value >= 0) latest_[{set, type, market, zone}] = last;
  }
  return news;
}

void Book::restore(const model::PriceRow& latest) {
  latest_[{latest.set, latest.type, latest.market, latest.zone}] = latest.point;
}

std::optional<model::Micros> Book::price(const std::string& set, const std::string& type,
                                         const std::string& zone, Market market) const {
  if (!zone.empty())
    if (const auto found = latest_.find({set, type, market, zone}); found != latest_.end())
      return found->second.per_hour;
  // A price without a zone holds for every zone.
  std::optional<model::Micros> highest;
  for (auto at = latest_.lower_bound({set, type, market, ""}); at != latest_.end(); ++at) {
    const auto& [of_set, of_type, of_market, of_zone] = at->first;
    if (of_set != set || of_type != type || of_market != market) break;
    if (!zone.empty() && !of_zone.empty()) continue;
    highest = std::max(highest.value_or(at->second.per_hour), at->second.per_hour);
  }
  return highest;
}

std::optional<Wall> Book::newest(const std::string& set, const std::string& type) const {
  std::optional<Wall> out;
  each(set, type,
       [&](const PricePoint& latest) { out = std::max(out.value_or(latest.start), latest.start); });
  return out;
}

std::size_t Book::count(const std::string& set, const std::string& type) const {
  std::size_t out = 0;
  each(set, type, [&](const PricePoint&) { ++out; });
  return out;
}

template <class Visit>
void Book::each(const std::string& set, const std::string& type, Visit visit) const {
  for (auto at = latest_.lower_bound({set, type, Market::kOnDemand, ""}); at != latest_.end();
       ++at) {
    if (std::get<0>(at->first) != set || std::get<1>(at->first) != type) break;
    visit(at->second);
  }
}

}  // namespace hostler::pricing
