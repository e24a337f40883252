#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/demand/allowance.h"
#include "core/demand/lane_order.h"
#include "core/model/ids.h"
#include "core/model/records.h"

/// The queue of waiting work, in classes: items of one kind with equal needs, constraints and
/// priority, exclusive or not. A plan takes time by the number of classes, not of jobs. Within a
/// priority principals take turns: the next item is the oldest of the principal with the least key
/// (shares.h).
namespace hostler::demand {

/// Classes, the lanes of principals in them, and the order of turns, which change together with
/// each item. Allowances says which items may be taken, and Search finds the next one for a host.
class Queue {
 public:
  struct Item {
    std::uint64_t arrival = 0;
    model::WorkId work;
    Mono since;  ///< When it was queued.
  };
  /// The items of one principal in one class, by arrival.
  class Lane {
   public:
    [[nodiscard]] std::size_t count() const { return items_.size() - first_ - holes_.size(); }
    [[nodiscard]] const Item& first() const { return items_[first_]; }
    /// Calls `see(item)` for each item in turn, until it returns false.
    template <class See>
    void each(See see) const;
    /// How many items came before the arrival.
    [[nodiscard]] std::size_t count_before(std::uint64_t arrival) const;
    /// The arrival of the item that follows the one of this arrival; there is one.
    [[nodiscard]] std::uint64_t arrival_after(std::uint64_t arrival) const;
    /// Items and the places of erased ones.
    [[nodiscard]] std::size_t places() const { return items_.size(); }

   private:
    friend class Queue;
    void push(const Item& item);
    void pop();
    bool erase(std::uint64_t arrival);
    void tidy();

    std::vector<Item> items_;           ///< From first_ on; an erased one has work 0.
    std::size_t first_ = 0;             ///< Never an erased one.
    std::vector<std::uint64_t> holes_;  ///< Arrivals of the erased ones, sorted.
  };
  struct Front {
    PrincipalId principal = 0;
    std::uint64_t arrival = 0;  ///< Of its first item.
    const Lane* lane = nullptr;
  };
  struct Class {
    model::WorkKind kind = model::WorkKind::kJob;
    model::WorkShape
        shape;  ///< With default restartable and attempts_max: these do not matter here.
    std::size_t count = 0;           ///< Waiting items.
    std::vector<Front> fronts = {};  ///< Of each principal that has items, in any order.
    model::Micros price_per_hour{};  ///< Of the part of a host that an item holds, as expected.
    std::size_t users = 0;           ///< Calls of intern() without their release().
    std::uint64_t unused = 0;        ///< Its key in unused_, while there are none.
  };

  /// The price of the part of a host that an item of the class would hold. Empty: 0.
  using PriceOf = std::function<model::Micros(const Class&)>;

  Queue() = default;
  Queue(const Queue&) = delete;  // Classes point to lanes.
  Queue& operator=(const Queue&) = delete;
  Queue(Queue&&) = default;
  Queue& operator=(Queue&&) = default;

  /// Finds or makes the class of a kind and a shape. The caller calls release() when nothing of the
  /// class waits or runs for it any more. O(log classes).
  ClassId intern(const model::WorkShape& shape, model::WorkKind kind = model::WorkKind::kJob);
  /// After the last of them the class is unused. The last thousand unused classes are kept: work of
  /// the same shape may come again, and hosts are on the way for it. O(log classes).
  void release(ClassId cls);
  static constexpr std::size_t kUnusedKept = 1000;
  /// The class of a shape, if there is one.
  [[nodiscard]] std::optional<ClassId> find(const model::WorkShape& shape,
                                            model::WorkKind kind = model::WorkKind::kJob) const;
  /// A shape without what does not matter for placing: that of the class.
  [[nodiscard]] static model::WorkShape class_shape(const model::WorkShape& shape);
  /// Adds an item of the class's kind. Fast if its arrival is the principal's newest in the class.
  void push(ClassId cls, const Item& item, PrincipalId principal = 0);
  /// Some item of the class is within its principal's allowance, if it holds this part of a host.
  /// What is not known of the part may be 0: it is at least what items need.
  /// O(principals with items in it), O(1) while nobody has a limit.
  [[nodiscard]] bool has_next(ClassId cls, const model::Amounts& part = {}) const {
    return has_limits() ? next_front(cls, part).has_value() : at(cls).count > 0;
  }
  /// Removes and returns the item of a class whose turn is next, of those that has_next() means;
  /// there is one. O(principals with items in it).
  Item pop(ClassId cls, const model::Amounts& part = {});
  /// Removes an item; false if the principal has no such item in the class.
  bool erase(ClassId cls, std::uint64_t arrival, PrincipalId principal = 0);
  /// The principal's place in the order of turns has changed. O(log principals).
  void set_key(PrincipalId principal, double key);
  /// What the principal may hold besides what it holds, from now on; without a call there is no
  /// limit. If it covers none of the principal's items, the principal takes no turns.
  /// O(1), but O(classes in which the principal waits) after its smallest items have gone.
  void set_allowance(PrincipalId principal, const Allowance& allowance);
  [[nodiscard]] const Allowance& allowance(PrincipalId principal) const {
    return allowances_.of(principal);
  }
  /// Any principal has a limit.
  [[nodiscard]] bool has_limits() const { return allowances_.has_limits(); }
  /// An item of the class held a part of a host at this price: the next may too.
  void set_price(ClassId cls, model::Micros per_hour) {
    classes_.at(cls).price_per_hour = per_hour;
  }

  /// The class is used, or it was lately.
  [[nodiscard]] const Class& at(ClassId cls) const { return classes_.at(cls); }
  /// Null: the class is gone, as it may be when a plan or a host names it.
  [[nodiscard]] const Class* find(ClassId cls) const {
    const auto found = classes_.find(cls);
    return found == classes_.end() ? nullptr : &found->second;
  }
  /// Items of the class wait.
  [[nodiscard]] bool waits(ClassId cls) const {
    const Class* found = find(cls);
    return found != nullptr && found->count > 0;
  }
  /// Items of the principal wait in the class.
  [[nodiscard]] bool waits(ClassId cls, PrincipalId principal) const {
    return principal < waiting_.size() && waiting_[principal].lanes.contains(cls);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The item of a class whose turn is next, or would be if its principal's allowance covered it;
  /// the class has one.
  [[nodiscard]] const Item& next_item(ClassId cls) const {
    const auto front = next_front(cls, {});
    return at(cls).fronts[front.value_or(0)].lane->first();
  }
  /// The class of the item whose turn is next among those that have room, that `meets` accepts and
  /// that are within the allowance of their principal: the highest priority, then the principal
  /// with the least key, then the earliest arrival. An exclusive item takes all of the room.
  /// Usually O(log lanes). It looks at some thousand lanes and principals at most: nullopt, and a
  /// plan finds what it has not.
  [[nodiscard]] std::optional<ClassId> next(const std::function<bool(const Class&)>& meets,
                                            const PriceOf& price = {},
                                            const model::Resources& room = kAnyRoom) const;
  static constexpr model::Resources kAnyRoom{INT32_MAX, INT32_MAX, INT64_MAX, INT64_MAX};

  struct Place {
    ClassId cls = 0;
    std::uint64_t arrival = 0;
    PrincipalId principal = 0;
  };
  /// For each place, how many items are before it: of a higher priority, of the same priority and
  /// the same principal and an earlier arrival, and of other principals about as many as get their
  /// turns before. `turn_cost` is what an item adds to its principal's key, for each unit of the
  /// class's price. Goes through the classes once.
  [[nodiscard]] std::vector<std::uint64_t> ahead(const std::vector<Place>& places,
                                                 double turn_cost = 0) const;

  /// Classes that have items, by priority.
  struct Order {
    std::int32_t priority;
    ClassId cls;
    friend bool operator<(const Order& a, const Order& b) {
      return std::tuple(-std::int64_t{a.priority}, a.cls) <
             std::tuple(-std::int64_t{b.priority}, b.cls);
    }
  };
  [[nodiscard]] const std::set<Order>& order() const { return order_; }
  /// Principals that wait and whose allowance covers an item, the next turn first.
  using Turns = std::set<std::pair<double, PrincipalId>>;
  [[nodiscard]] const Turns& principals() const { return turns_; }
  [[nodiscard]] const LaneOrder& lanes(PrincipalId principal) const {
    return waiting_[principal].order;
  }
  [[nodiscard]] const Lane& lane(PrincipalId principal, ClassId cls) const {
    return waiting_[principal].lanes.at(cls).lane;
  }
  /// One more than the highest number of a principal that has waited.
  [[nodiscard]] PrincipalId principals_end() const {
    return static_cast<PrincipalId>(waiting_.size());
  }
  [[nodiscard]] double key(PrincipalId principal) const {
    return principal < keys_.size() ? keys_[principal] : 0;
  }
  /// Waiting items of the principal.
  [[nodiscard]] std::size_t count(PrincipalId principal) const {
    return principal < waiting_.size() ? waiting_[principal].count : 0;
  }

 private:
  struct OwnLane {
    Lane lane;
    std::size_t front = 0;  ///< Its index in Class::fronts.
  };
  struct Waiting {
    std::size_t count = 0;
    bool takes_turns = false;
    std::unordered_map<ClassId, OwnLane> lanes;  ///< Of classes that it has items in.
    LaneOrder order;
  };
  /// Orders classes by what makes them differ.
  struct ByShape {
    using is_transparent = void;
    struct Key {
      model::WorkKind kind;
      const model::WorkShape& shape;
      friend bool operator<(const Key& a, const Key& b) {
        return std::tie(a.kind, a.shape) < std::tie(b.kind, b.shape);
      }
    };
    struct Entry {
      const Class* of;
      ClassId cls;
      operator Key() const { return {of->kind, of->shape}; }  // NOLINT: it is found by its key
    };
    bool operator()(const Key& a, const Key& b) const { return a < b; }
  };
  class Search;

  /// Index in Class::fronts; nullopt: no allowance covers an item.
  [[nodiscard]] std::optional<std::size_t> next_front(ClassId cls,
                                                      const model::Amounts& part) const;
  void ensure(PrincipalId principal);
  void set_takes_turns(PrincipalId principal, bool takes_turns);
  /// The allowance covers an item that waits.
  [[nodiscard]] bool has_allowed(PrincipalId principal) const;
  /// After items have left the lane, whose first item had this arrival.
  void left(ClassId cls, PrincipalId principal, std::uint64_t first_before);
  void remove_front(Class& cls, std::size_t front, ClassId id);

  std::unordered_map<ClassId, Class> classes_;
  ClassId next_class_ = 0;
  std::map<std::uint64_t, ClassId> unused_;  ///< The one that is unused for the longest time first.
  std::uint64_t last_unused_ = 0;
  std::set<ByShape::Entry, ByShape> by_shape_;
  std::set<Order> order_;
  std::deque<Waiting> waiting_;  ///< By principal.
  std::vector<double> keys_;     ///< By principal.
  Allowances allowances_;
  Turns turns_;
  std::size_t size_ = 0;
};

template <class See>
void Queue::Lane::each(See see) const {
  for (std::size_t i = first_; i < items_.size(); ++i)
    if (items_[i].work && !see(items_[i])) return;
}

}  // namespace hostler::demand
