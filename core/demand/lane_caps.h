#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/demand/price_bound.h"
#include "core/demand/queue.h"

namespace hostler::demand {

/// What the part of a host comes to that an item holds, by the offerings that it fits: of each
/// amount the least and the most, which only for exclusive items differ in more than the price.
struct PartRange {
  model::Amounts least, most;
  /// The least price of those that could be bought lately; 0: not known.
  model::Micros from = {};

  /// Of one more offering.
  void add(const model::Amounts& part) {
    auto low = least.values(), high = most.values();
    for (std::size_t i = 0; i < low.size(); ++i) {
      low[i] = std::min(low[i], part.values()[i]);
      high[i] = std::max(high[i], part.values()[i]);
    }
    least = model::Amounts::of(low);
    most = model::Amounts::of(high);
  }
};

/// How many items of a lane a plan sees: the first ones. The allowance of their principal covers no
/// more, so the others wait, and buy, wake and reserve no hosts.
struct LaneCap {
  std::uint64_t seen = 0;
  /// What their parts of hosts may come to together; unset: whatever the offerings have and cost.
  std::optional<model::Amounts> left = {};
};

/// The caps of the lanes of principals that have a limit. Other lanes have none.
class LaneCaps {
 public:
  [[nodiscard]] bool empty() const { return by_principal_.empty(); }
  /// Null: no cap.
  [[nodiscard]] const LaneCap* find(PrincipalId principal, ClassId cls) const {
    return empty() ? nullptr : find_one(principal, cls);
  }
  /// How many items of the lane are seen.
  [[nodiscard]] std::uint64_t seen(PrincipalId principal, ClassId cls,
                                   const Queue::Lane& lane) const {
    const LaneCap* cap = find(principal, cls);
    return cap == nullptr ? lane.count() : cap->seen;
  }
  /// The items go only where their parts of hosts are cheap enough.
  [[nodiscard]] bool is_priced(PrincipalId principal, ClassId cls) const {
    const LaneCap* cap = find(principal, cls);
    return cap != nullptr && cap->left;
  }
  /// A cap, and how many items wait in its lane.
  struct OfLane {
    ClassId cls = 0;
    LaneCap cap;
    std::uint64_t waiting = 0;
  };
  /// All of one principal, once.
  void set(PrincipalId principal, std::vector<OfLane> lanes);

  /// Of the lanes of one class.
  struct OfClass {
    std::uint64_t beyond = 0;               ///< Items that are not seen.
    std::uint64_t priced = 0;               ///< Items that are seen and priced.
    std::vector<PriceBound::Share> shares;  ///< Of the principals of the priced ones.
  };
  /// Null: its lanes have no cap.
  [[nodiscard]] const OfClass* of(ClassId cls) const {
    const auto found = by_class_.find(cls);
    return found == by_class_.end() ? nullptr : &found->second;
  }

 private:
  [[nodiscard]] const LaneCap* find_one(PrincipalId principal, ClassId cls) const;

  std::unordered_map<PrincipalId, std::vector<OfLane>> by_principal_;  ///< Sorted by class.
  std::unordered_map<ClassId, OfClass> by_class_;
};

/// What cap_lanes() has to know of a class.
struct CapRules {
  /// Asked only for principals with a limit of price, and for exclusive classes of those with any
  /// limit. Nullopt: it fits no offering.
  std::function<std::optional<PartRange>(ClassId)> parts;
  /// No host can be had for the class: it must not keep the principal's other classes from running,
  /// so it gets what they leave, and at least one item.
  std::function<bool(ClassId)> is_stuck;
};

/// Hands out the allowance of each principal that has a limit to its lanes in their order, at the
/// price of the cheapest host that can be had, and the size of the smallest for exclusive items. A
/// lane whose hosts are too dear for what is left shows one item, so that a plan sees when a
/// cheaper one can be had. O(principals + lanes of those with a limit).
[[nodiscard]] LaneCaps cap_lanes(const Queue& queue, const CapRules& rules);
/// Adds the caps of one principal that has waited.
void cap_lanes_of(const Queue& queue, PrincipalId principal, const CapRules& rules, LaneCaps& out);

}  // namespace hostler::demand
