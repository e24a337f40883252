#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/model/ids.h"
#include "core/model/records.h"

/// The queue of waiting work, in classes: items of one kind with equal needs, constraints and
/// priority. A plan
/// takes time by the number of classes, not of jobs.
namespace hostler::scheduler {

/// Index of a class in its queue. It never changes and is never used for another shape.
using ClassId = std::uint32_t;

class Queue {
 public:
  struct Item {
    std::uint64_t arrival = 0;
    model::WorkId work;
    Mono since;  ///< When it was queued.
  };
  struct Class {
    model::WorkKind kind = model::WorkKind::kJob;
    model::WorkShape
        shape;  ///< With default restartable and attempts_max: these do not matter here.
    std::size_t count = 0;   ///< Waiting items.
    std::deque<Item> items;  ///< By arrival; an erased item has work 0 until it reaches the front.
    std::deque<std::uint64_t> holes = {};  ///< Arrivals of the erased items, sorted.
  };

  /// Finds or makes the class of a kind and a shape. O(log classes).
  ClassId intern(const model::WorkShape& shape, model::WorkKind kind = model::WorkKind::kJob);
  /// The class of a shape, if there is one.
  [[nodiscard]] std::optional<ClassId> find(const model::WorkShape& shape,
                                            model::WorkKind kind = model::WorkKind::kJob) const;
  /// A shape without what does not matter for placing: that of the class.
  [[nodiscard]] static model::WorkShape class_shape(const model::WorkShape& shape);
  /// Adds an item of the class's kind. Fast if its arrival is the newest of the class.
  void push(ClassId cls, const Item& item);
  /// Removes and returns the first item of a class that has one.
  Item pop(ClassId cls);
  /// Removes an item; false if the class has no such item.
  bool erase(ClassId cls, std::uint64_t arrival);

  [[nodiscard]] const Class& at(ClassId cls) const { return classes_[cls]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  struct Place {
    ClassId cls = 0;
    std::uint64_t arrival = 0;
  };
  /// For each place, how many items are before it: of a higher priority, or of the same priority
  /// and an earlier arrival. Goes through the classes once.
  [[nodiscard]] std::vector<std::uint64_t> ahead(const std::vector<Place>& places) const;
  /// Classes that have items, the next one first: by priority, then by arrival of the first item.
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
  std::map<std::pair<model::WorkKind, model::WorkShape>, ClassId> by_shape_;
  std::set<Order> order_;
  std::size_t size_ = 0;
};

}  // namespace hostler::scheduler
