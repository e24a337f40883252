#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "core/base/time.h"
#include "core/model/ids.h"
#include "core/model/records.h"

/// Waiting work, kept as shape classes: same needs, constraints and priority. What a decision
/// costs goes by classes, not by jobs.
namespace hostler::scheduler {

/// Slot of a class in its queue; stable while the queue lives, never reused for another shape.
using ClassId = std::uint32_t;

class Queue {
 public:
  struct Item {
    std::uint64_t arrival = 0;
    model::WorkId work;
    Mono since;  ///< Waiting since.
  };
  struct Class {
    model::WorkShape shape;  ///< restartable and attempts_max are not part of the class: defaults.
    std::size_t count = 0;   ///< Items that wait.
    std::deque<Item> items;  ///< By arrival; an erased one has work 0 until it reaches the front.
    std::deque<std::uint64_t> holes = {};  ///< Arrivals of those that were erased, sorted.
  };

  /// Finds or makes the class of a shape. O(log classes).
  ClassId intern(const model::WorkShape& shape);
  /// Arrivals mostly rise; an older one (work queued again) is put where it belongs.
  void push(ClassId cls, const Item& item);
  /// Takes the class's first item out; the class must not be empty.
  Item pop(ClassId cls);
  /// Takes one item out wherever it is; false if it does not wait there.
  bool erase(ClassId cls, std::uint64_t arrival);

  [[nodiscard]] const Class& at(ClassId cls) const { return classes_[cls]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  struct Place {
    ClassId cls = 0;
    std::uint64_t arrival = 0;
  };
  /// For each, how many items go before it: of higher priority, or of the same and earlier. Goes
  /// through the classes once, however many are asked for.
  [[nodiscard]] std::vector<std::uint64_t> ahead(const std::vector<Place>& places) const;
  /// Classes that have items: highest priority first, then by the arrival of their first item.
  struct Order {
    std::int32_t priority;
    std::uint64_t arrival;
    ClassId cls;
    friend bool operator<(const Order& a, const Order& b) {
      return std::tuple(-std::int64_t{a.priority}, a.arrival, a.cls) <
             std::tuple(-std::int64_t{b.priority}, b.arrival, b.cls);
    }
  };
  [[nodiscard]] const std::set<Order>& order() const { return order_; }

 private:
  void forget_one(Class& cls);
  void leave_order(ClassId cls);
  void enter_order(ClassId cls);

  std::vector<Class> classes_;
  std::map<model::WorkShape, ClassId> by_shape_;
  std::set<Order> order_;
  std::size_t size_ = 0;
};

}  // namespace hostler::scheduler
