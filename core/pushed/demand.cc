#include "core/pushed/demand.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/saturating.h"

namespace hostler::pushed {
namespace {

using Sizes = std::span<const std::int32_t>;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

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

/// What the tasks that fit ask for together.
struct Sums {
  std::int64_t aux = 0;                        ///< Tasks without slots.
  std::int64_t slots = 0;                      ///< Each group up to its maximum.
  std::map<std::int64_t, std::int64_t> items;  ///< By slots: tasks, each group up to its maximum.
};

class Adder {
 public:
  explicit Adder(const std::map<std::string, std::int64_t>& group_max) : group_max_(group_max) {}

  void add(const model::PushedTask& task) {
    if (task.slots == 0) {
      ++sums_.aux;
      return;
    }
    const auto max = task.group.empty() ? group_max_.end() : group_max_.find(task.group);
    if (max == group_max_.end()) {
      sums_.slots = add_saturating(sums_.slots, std::int64_t{task.slots});
      ++sums_.items[task.slots];
      return;
    }
    std::int64_t& used = used_[task.group];
    const std::int64_t left = max->second - used;
    const std::int64_t taken = std::min<std::int64_t>(left, task.slots);
    used += taken;
    sums_.slots = add_saturating(sums_.slots, taken);
    // The scheduler starts no part of a task.
    if (taken == task.slots) ++sums_.items[task.slots];
  }
  [[nodiscard]] const Sums& sums() const { return sums_; }

 private:
  const std::map<std::string, std::int64_t>& group_max_;
  std::map<std::string_view, std::int64_t> used_;
  Sums sums_;
};

/// Makes the classes of one pool.
class Classes {
 public:
  explicit Classes(const std::string& pool) : pool_(pool) {}

  void add(std::int64_t slots, bool is_whole_host, std::int64_t count) {
    if (count <= 0) return;
    model::WorkShape shape;
    shape.needs.slots = static_cast<std::int32_t>(slots);
    shape.constraints.pools = {pool_};
    shape.exclusive = is_whole_host;
    for (TaskClass& known : out_)
      if (known.shape == shape) {
        known.count += static_cast<std::uint64_t>(count);
        return;
      }
    out_.push_back({std::move(shape), static_cast<std::uint64_t>(count)});
  }
  [[nodiscard]] std::vector<TaskClass> take() {
    std::ranges::stable_sort(out_, [](const TaskClass& a, const TaskClass& b) {
      return std::pair(a.shape.needs.slots, a.shape.exclusive) >
             std::pair(b.shape.needs.slots, b.shape.exclusive);
    });
    return std::move(out_);
  }

 private:
  const std::string& pool_;
  std::vector<TaskClass> out_;
};

}  // namespace

std::vector<std::int64_t> slots_that_would_do(std::int64_t slots, Sizes sizes) {
  if (sizes.empty() || sizes.back() <= 0) return {};
  if (fits(slots, sizes)) return {slots};
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
  Classes classes(pool);
  if (push.desired_new) {
    out.tasks = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *push.desired_new));
    classes.add(0, /*is_whole_host=*/true, *push.desired_new);
    out.classes = classes.take();
    return out;
  }
  Adder adder(push.group_max);
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
  const std::int64_t for_aux =
      policy.aux_per_agent > 0 ? ceil_div(sums.aux, policy.aux_per_agent) : 0;
  const std::int64_t for_slots = largest > 0 ? ceil_div(sums.slots, largest) : 0;
  if (sizes.size() <= 1) {
    classes.add(largest, /*is_whole_host=*/true, std::max(for_aux, for_slots));
  } else {
    for (const auto& [slots, count] : sums.items) {
      const bool is_wide = slots > largest;
      const std::int64_t size = is_wide ? divisor_of(slots, sizes) : slots;
      classes.add(size, is_wide, is_wide ? count * (slots / size) : count);
    }
    // At least `for_slots` hosts come for the slots, and each runs tasks without slots as well.
    classes.add(0, /*is_whole_host=*/true, for_aux - for_slots);
  }
  out.classes = classes.take();
  return out;
}

}  // namespace hostler::pushed
