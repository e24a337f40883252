#include <algorithm>
#include <cmath>

#include "core/demand/queue.h"

/// How many items of the queue go before others.
namespace hostler::demand {
namespace {

/// Counts the items of some lanes that came before each of some arrivals.
struct Earlier {
  std::vector<std::uint64_t> arrivals;  ///< Sorted; set before the first add().

  /// Searches once for each item or once for each arrival, whichever are fewer.
  void add(const Queue::Lane& lane) {
    steps_.resize(arrivals.size() + 1);
    counts_.resize(arrivals.size());
    const auto first = index_after(lane.first().arrival);
    if (lane.count() < arrivals.size() - first) {
      lane.each([&](const Queue::Item& item) {
        ++steps_[index_after(item.arrival)];
        return true;
      });
      return;
    }
    for (std::size_t i = first; i < arrivals.size(); ++i)
      counts_[i] += lane.count_before(arrivals[i]);
  }
  [[nodiscard]] std::vector<std::uint64_t> sums() const {
    std::vector<std::uint64_t> out(arrivals.size());
    std::uint64_t stepped = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) out[i] = (stepped += steps_[i]) + counts_[i];
    return out;
  }

 private:
  [[nodiscard]] std::size_t index_after(std::uint64_t arrival) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(arrivals, arrival) - arrivals.begin());
  }

  std::vector<std::uint64_t> counts_;
  std::vector<std::uint64_t> steps_;  ///< Items to add from this arrival on.
};

/// What a principal has waiting at one priority.
struct Waits {
  double key = 0;
  std::uint64_t count = 0;
  double cost = 0;  ///< Of all these items, as keys count it.

  /// How many of its items get their turns before a key, at about equal costs.
  [[nodiscard]] std::uint64_t before(double turn) const {
    if (key >= turn) return 0;
    if (cost <= 0 || turn - key >= cost) return count;
    return static_cast<std::uint64_t>(std::ceil((turn - key) / cost * static_cast<double>(count)));
  }
};

}  // namespace

std::vector<std::uint64_t> Queue::ahead(const std::vector<Place>& places, double turn_cost) const {
  using Group = std::pair<std::int64_t, PrincipalId>;  // minus priority, principal
  std::map<Group, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < places.size(); ++i)
    groups[{-std::int64_t{at(places[i].cls).shape.priority}, places[i].principal}].push_back(i);
  std::vector<std::uint64_t> out(places.size());
  std::uint64_t higher = 0, same = 0;
  std::map<PrincipalId, Waits> waits;  // of the priority that `known` says
  std::optional<std::int64_t> known;
  auto next = order_.begin();
  for (auto& [group, asked] : groups) {
    const auto [minus, principal] = group;
    if (known != minus) {
      higher += std::exchange(same, 0);
      waits.clear();
      known = minus;
      for (; next != order_.end() && -std::int64_t{next->priority} <= minus; ++next) {
        const Class& c = at(next->cls);
        if (-std::int64_t{next->priority} < minus) {
          higher += c.count;
          continue;
        }
        same += c.count;
        for (const Front& front : c.fronts) {
          Waits& one = waits[front.principal];
          one.key = keys_[front.principal];
          one.count += front.lane->count();
          one.cost += static_cast<double>(front.lane->count()) *
                      static_cast<double>(c.price_per_hour.value) * turn_cost;
        }
      }
    }
    std::ranges::sort(asked, {}, [&](std::size_t i) { return places[i].arrival; });
    Earlier earlier;
    for (const std::size_t i : asked) earlier.arrivals.push_back(places[i].arrival);
    const auto& lanes = waiting_[principal];
    for (auto lane = lanes.order.from(static_cast<std::int32_t>(-minus));
         lane != lanes.order.end() && lane->first.priority == -minus; ++lane)
      earlier.add(lanes.lanes.at(lane->first.cls).lane);
    const auto counts = earlier.sums();
    const Waits& own = waits[principal];
    for (std::size_t k = 0; k < asked.size(); ++k) {
      std::uint64_t before = higher + counts[k];
      const double turn = own.count == 0 ? own.key
                                         : own.key + own.cost * static_cast<double>(counts[k]) /
                                                         static_cast<double>(own.count);
      for (const auto& [other, its] : waits)
        if (other != principal) before += its.before(turn);
      out[asked[k]] = before;
    }
  }
  return out;
}

}  // namespace hostler::demand
