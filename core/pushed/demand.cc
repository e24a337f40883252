#include "core/pushed/demand.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/saturating.h"

namespace hostler::pushed {
namespace {

using Sizes = std::span<const std::int32_t>;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Whole hosts for so much of what one host has `each` of: 0 if that is none.
std::int64_t hosts_for(std::int64_t amount, std::int64_t each) {
  return each > 0 ? ceil_div(amount, each) : 0;
}

/// The largest size that the task fills several times, or 0: none does.
std::int64_t divisor_of(std::int64_t slots, Sizes sizes) {
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size)
    if (*size > 0 && slots % *size == 0) return *size;
  return 0;
}

bool fits(std::int64_t slots, Sizes sizes) {
  if (slots == 0) return true;
  return !sizes.empty() && sizes.back() > 0 &&
         (slots <= sizes.back() || divisor_of(slots, sizes) > 0);
}

/// The demand of all tasks that fit.
struct Sums {
  std::int64_t aux = 0;                         ///< Tasks without slots.
  std::int64_t slots = 0;                       ///< Each group up to its maximum.
  std::map<std::int64_t, std::uint64_t> items;  ///< Tasks by their slots.
};

class Adder {
 public:
  /// `whole`: a task that its group's maximum has no room for counts for nothing, as no scheduler
  /// starts a part of it. Otherwise the part counts.
  Adder(const std::map<std::string, std::int64_t>& group_max, bool whole)
      : left_(group_max.begin(), group_max.end()), whole_(whole) {}

  void add(const model::PushedTask& task) {
    if (task.slots == 0) {
      ++sums_.aux;
      return;
    }
    const std::int64_t taken = take(task);
    if (taken > 0) ++sums_.items[task.slots];
    sums_.slots = add_saturating(sums_.slots, taken);
  }
  [[nodiscard]] const Sums& sums() const { return sums_; }

 private:
  std::int64_t take(const model::PushedTask& task) {
    const auto left = task.group.empty() ? left_.end() : left_.find(task.group);
    if (left == left_.end()) return task.slots;
    if (whole_ && left->second < task.slots) return 0;
    const std::int64_t taken = std::min<std::int64_t>(left->second, task.slots);
    left->second -= taken;
    return taken;
  }

  std::map<std::string_view, std::int64_t> left_;
  const bool whole_;
  Sums sums_;
};

/// Makes the classes of one pool.
class Classes {
 public:
  void add(std::int64_t slots, bool is_whole_host, std::uint64_t count) {
    if (count == 0) return;
    auto& known = counts_[{slots, is_whole_host}];
    known = std::min(kTaskItemsMax, known + count);
  }
  [[nodiscard]] std::vector<TaskClass> of(const std::string& pool) const {
    std::vector<TaskClass> out;
    for (const auto& [what, count] : counts_) {
      auto& made = out.emplace_back();
      made.shape.needs.slots = static_cast<std::int32_t>(what.first);
      made.shape.constraints.pools = {pool};
      made.shape.exclusive = what.second;
      made.count = count;
    }
    return out;
  }

 private:
  std::map<std::pair<std::int64_t, bool>, std::uint64_t, std::greater<>> counts_;
};

/// The tasks with slots as items and, where they are wider than a host, as whole hosts.
void pack(const Sums& sums, Sizes sizes, Classes& classes) {
  const std::int64_t largest = sizes.back();
  const auto narrow = std::distance(sums.items.begin(), sums.items.upper_bound(largest));
  const std::int64_t step =
      narrow > kTaskSizesMax ? std::max<std::int64_t>(1, ceil_div(largest, kTaskSizesMax)) : 1;
  for (const auto& [slots, count] : sums.items) {
    if (slots <= largest) {
      const std::int64_t rounded = ceil_div(slots, step) * step;
      classes.add(std::min(rounded, largest), /*is_whole_host=*/false, count);
    } else {
      const std::int64_t size = divisor_of(slots, sizes);
      classes.add(size, /*is_whole_host=*/true, count * static_cast<std::uint64_t>(slots / size));
    }
  }
}

}  // namespace

std::vector<std::int64_t> slots_that_would_do(std::int64_t slots, Sizes sizes) {
  if (fits(slots, sizes)) return {slots};
  if (sizes.empty() || sizes.back() <= 0) return {};
  std::int64_t below = sizes.back(), above = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t size : sizes) {
    if (size == 0) continue;
    below = std::max(below, slots / size * size);
    above = std::min(above, ceil_div(slots, size) * size);
  }
  return {below, above};
}

Demand demand_of(const model::Push& push, Sizes sizes, const std::string& pool,
                 const model::PushedPolicy& policy) {
  Demand out;
  Classes classes;
  if (push.desired_new) {
    out.tasks = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *push.desired_new));
    classes.add(0, /*is_whole_host=*/true, out.tasks);
    out.classes = classes.of(pool);
    return out;
  }
  const bool is_packed = sizes.size() > 1;
  Adder adder(push.group_max, is_packed);
  for (const auto& task : push.tasks) {
    if (!fits(task.slots, sizes)) {
      out.never_fits.push_back({task.id, slots_that_would_do(task.slots, sizes)});
      continue;
    }
    ++out.tasks;
    adder.add(task);
  }
  const Sums& sums = adder.sums();
  out.slots = sums.slots;
  const std::int64_t largest = sizes.empty() ? 0 : sizes.back();
  const std::int64_t for_aux = hosts_for(sums.aux, policy.aux_per_agent);
  const std::int64_t for_slots = hosts_for(sums.slots, largest);
  if (is_packed) {
    pack(sums, sizes, classes);
    // At least `for_slots` hosts come for the slots, and each runs tasks without slots as well.
    classes.add(0, /*is_whole_host=*/true,
                static_cast<std::uint64_t>(std::max<std::int64_t>(0, for_aux - for_slots)));
  } else {
    classes.add(largest, /*is_whole_host=*/true,
                static_cast<std::uint64_t>(std::max(for_aux, for_slots)));
  }
  out.classes = classes.of(pool);
  return out;
}

}  // namespace hostler::pushed
