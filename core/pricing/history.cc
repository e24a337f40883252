#include "core/pricing/history.h"

#include <algorithm>
#include <limits>

namespace hostler::pricing {
namespace {

using model::Micros;
using model::PricePoint;
__extension__ using Wide = __int128;  // price times microseconds: 126 bits at most

constexpr std::int64_t kHourUs = 3'600'000'000;

Micros per_hour_to_sum(Wide price_us) {
  const Wide sum = price_us / kHourUs;
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  return {static_cast<std::int64_t>(std::clamp(sum, -kMost, kMost))};
}

/// The point in force at `when`: the newest one that began at or before it.
auto in_force(const History& history, Wall when) {
  return std::lower_bound(history.begin(), history.end(), when,
                          [](const PricePoint& point, Wall time) { return point.start > time; });
}

/// Sum of price times microseconds over [from, to).
Wide area(const History& history, Wall from, Wall to) {
  Wide sum = 0;
  Wall end = to;
  for (auto at = in_force(history, to); from < end; ++at) {
    const bool oldest = at == history.end() || std::next(at) == history.end();
    const Micros price = at == history.end() ? history.back().per_hour : at->per_hour;
    const Wall start = oldest ? from : std::max(from, at->start);
    sum += Wide{price.value} * (Wide{end.us} - start.us);
    end = start;
  }
  return sum;
}

}  // namespace

History normalise(std::vector<PricePoint> points) {
  std::stable_sort(points.begin(), points.end(),
                   [](const PricePoint& a, const PricePoint& b) { return a.start < b.start; });
  History out;
  for (const PricePoint& point : points) {  // oldest first
    if (!out.empty() && out.back().start == point.start) out.pop_back();
    if (out.empty() || out.back().per_hour != point.per_hour) out.push_back(point);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<Micros> cost(const History& history, Wall from, Wall to) {
  if (history.empty()) return std::nullopt;
  return to <= from ? Micros{} : per_hour_to_sum(area(history, from, to));
}

Micros cost(Micros per_hour, Wall from, Wall to) {
  if (to <= from) return {};
  return per_hour_to_sum(Wide{per_hour.value} * (Wide{to.us} - from.us));
}

}  // namespace hostler::pricing
