#include "core/scheduler/join_lots.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "core/base/assert.h"
#include "core/scheduler/price_rule.h"

namespace hostler::scheduler {
namespace {

/// Lots that will be one lot, and what that costs: room that no item uses.
struct Group {
  std::vector<std::uint32_t> lots;
  double waste = 0;           ///< Of the resource of which most is wasted, in shares of all demand.
  std::size_t dimension = 0;  ///< That resource.

  bool operator<(const Group& other) const {
    return std::tie(waste, other.lots.front()) < std::tie(other.waste, lots.front());
  }
};

/// Splits lots into groups, the group that wastes most first.
class Grouping {
 public:
  Grouping(const World& world, const std::vector<Lot>& lots) : lots_(lots) {
    for (const Lot& lot : lots) sizes_.push_back(vector_of(lot.item));
    for (std::size_t l = 0; l < lots.size(); ++l)
      for (std::size_t d = 0; d < 4; ++d)
        demand_[d] += sizes_[l][d] * static_cast<double>(lots[l].left);
    // What decides where the items of a lot may go.
    const auto key = [&](const Lot& lot) {
      const Need& need = world.needs[lot.need];
      return std::tuple(*need.constraints, lot.on_demand, may_be_spot(need),
                        lot.price_most.has_value());
    };
    std::map<decltype(key(lots.front())), std::vector<std::uint32_t>> alike;
    for (std::uint32_t l = 0; l < lots.size(); ++l) alike[key(lots[l])].push_back(l);
    for (auto& [unused, members] : alike) add(std::move(members));
  }

  void split_until(std::size_t most) {
    while (groups_.size() < most && groups_.top().waste > 0) split();
  }
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> take() {
    std::vector<std::vector<std::uint32_t>> out;
    for (; !groups_.empty(); groups_.pop()) out.push_back(groups_.top().lots);
    return out;
  }

 private:
  void add(std::vector<std::uint32_t> members) {
    Group group{.lots = std::move(members)};
    for (std::size_t d = 0; d < 4; ++d) {
      double least = HUGE_VAL, most = 0, sum = 0, items = 0;
      for (const std::uint32_t l : group.lots) {
        const auto left = static_cast<double>(lots_[l].left);
        least = std::min(least, sizes_[l][d]);
        most = std::max(most, sizes_[l][d]);
        sum += sizes_[l][d] * left;
        items += left;
      }
      if (least == most) continue;  // The sum is rounded: it would seem that some is wasted.
      const double waste = demand_[d] > 0 ? (most * items - sum) / demand_[d] : 0;
      if (waste > group.waste * (1 + 1e-9)) group.waste = waste, group.dimension = d;
    }
    groups_.push(std::move(group));
  }

  /// At the middle between the smallest and the largest item.
  void split() {
    Group group = groups_.top();
    groups_.pop();
    const auto size = [&](std::uint32_t l) { return sizes_[l][group.dimension]; };
    const auto [least, most] = std::ranges::minmax(group.lots, {}, size);
    const double middle = (size(least) + size(most)) / 2;
    const double largest = size(most);
    const auto larger = std::stable_partition(
        group.lots.begin(), group.lots.end(),
        [&](std::uint32_t l) { return size(l) <= middle && size(l) < largest; });
    add({group.lots.begin(), larger});
    add({larger, group.lots.end()});
  }

  const std::vector<Lot>& lots_;
  std::vector<ResourceVector> sizes_;
  ResourceVector demand_{};
  std::priority_queue<Group> groups_;
};

void join(const World& world, Lot& into, const Lot& other) {
  const auto dearest = [&](const Lot& lot) { return world.needs[lot.need].cheapest[0].value; };
  if (dearest(other) > dearest(into)) into.need = other.need;
  into.item.vcpus = std::max(into.item.vcpus, other.item.vcpus);
  into.item.gpus = std::max(into.item.gpus, other.item.gpus);
  into.item.ram = std::max(into.item.ram, other.item.ram);
  into.item.scratch = std::max(into.item.scratch, other.item.scratch);
  into.item.slots = std::max(into.item.slots, other.item.slots);
  into.left += other.left;
  into.demand.insert(into.demand.end(), other.demand.begin(), other.demand.end());
  if (into.price_most) into.price_most = std::min(*into.price_most, *other.price_most);
}

}  // namespace

std::vector<Lot> join_similar(const World& world, std::vector<Lot> lots, std::size_t most) {
  if (lots.size() <= most) return lots;
  Grouping grouping(world, lots);
  grouping.split_until(most);
  std::vector<Lot> out;
  for (const auto& members : grouping.take()) {
    HOSTLER_ASSERT(!members.empty(), "a group has lots");
    Lot& joined = out.emplace_back(std::move(lots[members.front()]));
    for (std::size_t m = 1; m < members.size(); ++m) join(world, joined, lots[members[m]]);
    std::ranges::sort(joined.demand);  // The most urgent first.
  }
  return out;
}

}  // namespace hostler::scheduler
