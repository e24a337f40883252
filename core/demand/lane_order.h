#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <functional>
#include <optional>
#include <tuple>

#include "core/model/resources.h"

/// The order of what one principal waits with, and the search in it for what fits on a host.
namespace hostler::demand {

/// Number of a class in its queue. It is never used for another class.
using ClassId = std::uint64_t;

/// The place of a lane among those of its principal: by priority, then by the arrival of its first
/// item.
struct LanePlace {
  std::int32_t priority = 0;
  std::uint64_t arrival = 0;
  ClassId cls = 0;

  friend bool operator<(const LanePlace& a, const LanePlace& b) {
    return std::tuple(-std::int64_t{a.priority}, a.arrival, a.cls) <
           std::tuple(-std::int64_t{b.priority}, b.arrival, b.cls);
  }
};

/// The least of each resource.
inline model::Resources least_of(const model::Resources& a, const model::Resources& b) {
  return {.vcpus = std::min(a.vcpus, b.vcpus),
          .gpus = std::min(a.gpus, b.gpus),
          .ram = std::min(a.ram, b.ram),
          .scratch = std::min(a.scratch, b.scratch),
          .slots = std::min(a.slots, b.slots)};
}

/// Keeps the least needs of each subtree; for the tree of LaneOrder, whose values are the needs.
template <class ConstNode, class Node, class Less, class Allocator>
struct LeastNeeds {
  using metadata_type = model::Resources;

  void operator()(Node node, ConstNode end) const {
    model::Resources least = (*node)->second;
    for (const ConstNode child : {ConstNode(node.get_l_child()), ConstNode(node.get_r_child())})
      if (child != end) least = least_of(least, child.get_metadata());
    const_cast<metadata_type&>(node.get_metadata()) = least;
  }
  virtual ~LeastNeeds() = default;
};

/// A search for an item that fits on a host.
struct LaneSearch {
  model::Resources room;                                 ///< On the host.
  const std::function<bool(const LanePlace&)>& accepts;  ///< Asked of lanes whose needs have room.
  /// It ends after so many, because it runs on the loop. 0: something may fit all the same.
  int steps = 0;
};

/// The lanes of one principal in their order. A search passes over all lanes of a subtree at once
/// if there is no room for the least needs in it.
class LaneOrder {
 public:
  using Tree = __gnu_pbds::tree<LanePlace, model::Resources, std::less<>, __gnu_pbds::rb_tree_tag,
                                LeastNeeds>;
  using const_iterator = Tree::const_iterator;

  void insert(const LanePlace& place, const model::Resources& needs) {
    tree_.insert({place, needs});
  }
  void erase(const LanePlace& place) { tree_.erase(place); }
  [[nodiscard]] bool empty() const { return tree_.empty(); }
  [[nodiscard]] std::size_t size() const { return tree_.size(); }
  [[nodiscard]] const_iterator begin() const { return tree_.begin(); }
  [[nodiscard]] const_iterator end() const { return tree_.end(); }
  /// The first lane of this or a lower priority.
  [[nodiscard]] const_iterator from(std::int32_t priority) const {
    return tree_.lower_bound({.priority = priority});
  }
  /// The least needs of all lanes; there is one.
  [[nodiscard]] const model::Resources& least_needs() const {
    return tree_.node_begin().get_metadata();
  }
  /// The first lane of the priority, or of all, that has room and is accepted. O(log lanes) where
  /// one resource decides. Lanes that are not accepted take a step each, and so do lanes of a
  /// subtree in which one lacks this and another that resource.
  [[nodiscard]] std::optional<LanePlace> first_fit(std::optional<std::int32_t> priority,
                                                   LaneSearch& search) const {
    return first_fit(tree_.node_begin(), priority, search);
  }

 private:
  [[nodiscard]] std::optional<LanePlace> first_fit(Tree::node_const_iterator node,
                                                   std::optional<std::int32_t> priority,
                                                   LaneSearch& search) const;

  Tree tree_;
};

}  // namespace hostler::demand
