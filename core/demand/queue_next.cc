#include <algorithm>
#include <limits>

#include "core/demand/shares.h"

/// Whose turn is next among the items that have room on a host.
namespace hostler::demand {
namespace {

/// next() takes so many steps at most through the lanes of principals: about 0.1 ms.
constexpr int kStepsMax = 4096;
/// Where there are few classes, next() looks at each of them after so many steps.
constexpr int kPatience = 256;
constexpr std::size_t kFewClasses = 256;
/// So many fronts are compared rather than walked through by principal.
constexpr std::size_t kFewFronts = 256;
constexpr ClassId kLastClass = std::numeric_limits<ClassId>::max();

}  // namespace

/// One call of next(): what it is asked for, and the ways to find it. It changes nothing.
class Queue::Search {
 public:
  using Orders = std::set<Order>::const_iterator;

  Search(const Queue& queue, const std::function<bool(const Class&)>& meets, const PriceOf& price,
         const model::Resources& room)
      : queue_(queue), meets_(meets), price_(price), room_(room) {}

  [[nodiscard]] std::optional<ClassId> next() const {
    int steps = kStepsMax;
    if (queue_.turns_.size() == 1) {
      const auto found = first_fit(queue_.turns_.begin()->second, std::nullopt, steps);
      return found ? std::optional(found->cls) : std::nullopt;
    }
    const auto& order = queue_.order_;
    for (auto from = order.begin(); from != order.end() && steps > 0;) {
      const std::int32_t priority = from->priority;
      std::size_t classes = 0;
      auto to = from;
      while (to != order.end() && to->priority == priority && classes <= kFewClasses)
        ++to, ++classes;
      const bool are_few = classes <= kFewClasses;
      int patience = are_few ? std::min(steps, kPatience) : steps;
      steps -= patience;
      auto found = of_principals(priority, patience);
      if (!found && patience == 0 && are_few) found = of_classes(from, to);
      if (found) return found;
      steps += patience;
      from = are_few ? to : order.upper_bound({priority, kLastClass});
    }
    return std::nullopt;
  }

 private:
  /// What an item of the class would hold of the room.
  [[nodiscard]] model::Amounts part_of(const Class& cls) const {
    return model::Amounts::of(held_by(cls.shape, room_), price_ ? price_(cls) : model::Micros{});
  }

  /// The first lane of a principal that next() may mean.
  [[nodiscard]] std::optional<LanePlace> first_fit(PrincipalId principal,
                                                   std::optional<std::int32_t> priority,
                                                   int& steps) const {
    const bool is_limited = queue_.allowance(principal).is_limited();
    const std::function<bool(const LanePlace&)> accepts = [&](const LanePlace& place) {
      const Class& cls = queue_.at(place.cls);
      return meets_(cls) && (!is_limited || queue_.allowances_.cover(principal, part_of(cls)));
    };
    LaneSearch search{room_, accepts, steps};
    const auto found = queue_.lanes(principal).first_fit(priority, search);
    steps = search.steps;
    return found;
  }

  /// Searches the lanes of one principal after the other. If all steps are taken, it returns none.
  [[nodiscard]] std::optional<ClassId> of_principals(std::int32_t priority, int& steps) const {
    std::optional<LanePlace> best;
    double key = 0;
    for (const auto& [its_key, principal] : queue_.turns_) {
      if (best && its_key > key) break;
      key = its_key;
      const auto found = first_fit(principal, priority, steps);
      if (steps == 0) return std::nullopt;
      if (found && (!best || found->arrival < best->arrival)) best = found;
    }
    return best ? std::optional(best->cls) : std::nullopt;
  }

  /// Looks at each class once, whatever the number of principals.
  [[nodiscard]] std::optional<ClassId> of_classes(Orders from, Orders to) const {
    std::vector<ClassId> fitting;
    std::size_t fronts = 0;
    for (auto of = from; of != to; ++of) {
      const Class& cls = queue_.at(of->cls);
      if (!cls.shape.needs.fits_in(room_) || !meets_(cls)) continue;
      fitting.push_back(of->cls);
      fronts += cls.fronts.size();
    }
    if (fitting.empty()) return std::nullopt;
    if (fitting.size() == 1 || fronts <= kFewFronts) return first_of(fitting);
    int steps = std::numeric_limits<int>::max();
    return of_principals(from->priority, steps);
  }

  /// The class of the next turn, by comparing those of all.
  [[nodiscard]] std::optional<ClassId> first_of(const std::vector<ClassId>& classes) const {
    std::optional<ClassId> best;
    std::pair<double, std::uint64_t> first;
    for (const ClassId cls : classes) {
      const Class& c = queue_.at(cls);
      const auto front =
          queue_.next_front(cls, queue_.has_limits() ? part_of(c) : model::Amounts{});
      if (!front) continue;
      const std::pair turn(queue_.keys_[c.fronts[*front].principal], c.fronts[*front].arrival);
      if (best && turn >= first) continue;
      best = cls;
      first = turn;
    }
    return best;
  }

  const Queue& queue_;
  const std::function<bool(const Class&)>& meets_;
  const PriceOf& price_;
  const model::Resources& room_;
};

std::optional<ClassId> Queue::next(const std::function<bool(const Class&)>& meets,
                                   const PriceOf& price, const model::Resources& room) const {
  return Search(*this, meets, price, room).next();
}

}  // namespace hostler::demand
