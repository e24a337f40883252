#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/push.h"
#include "core/model/records.h"

/// The demand of pushed tasks, as work of a plan. Pure.
namespace hostler::pushed {

/// Equal tasks. None is ever placed: hosts are found and bought for them.
struct TaskClass {
  model::WorkShape shape;  ///< Of the pool only.
  std::uint64_t count = 0;
  friend bool operator==(const TaskClass&, const TaskClass&) = default;
};
struct Demand {
  std::vector<TaskClass> classes;  ///< By slots, most first. Few: see kTaskSizesMax.
  std::vector<model::NeverFits> never_fits;
  /// That wait and fit. Those that their group's maximum holds back are among them.
  std::uint64_t tasks = 0;
  std::int64_t slots = 0;  ///< That they ask for, groups' maximums applied.
  friend bool operator==(const Demand&, const Demand&) = default;
};
/// Tasks of more different slots than this are rounded up before they are packed: a plan looks at
/// each class, and a pusher could send as many as tasks.
inline constexpr std::int64_t kTaskSizesMax = 256;
/// A class counts no more items: a plan looks at each of them. Tasks of a million slots could ask
/// for billions of hosts, and no pool has so many.
inline constexpr std::uint64_t kTaskItemsMax = model::kSlotsMax;

/// `sizes`: the slots of the types of the pool, ascending, each once; 0 for types without slots.
/// - With one size S the demand is `max(ceil(aux / aux_per_agent), ceil(slots / S))` whole hosts,
///   each term 0 if its divisor is. A group counts up to its maximum of slots, so that the last
///   task may count in part.
/// - With several sizes, tasks are items of their slots, which the plan packs. A task wider than
///   the largest size is several whole hosts of the largest size that divides it. A group counts
///   the tasks that its maximum has room for, in their order. Tasks without slots ask for the
///   hosts that the others leave missing, of any type.
/// - A task that is wider than the largest size and a multiple of none is in `never_fits`, and asks
///   for nothing.
/// - `desired_new` asks for so many whole hosts of any type.
/// O(tasks log tasks). Numbers saturate.
[[nodiscard]] Demand demand_of(const model::Push& push, std::span<const std::int32_t> sizes,
                               const std::string& pool, const model::PushedPolicy& policy);

/// The nearest numbers of slots that a task may have: `slots` itself if it fits, else one below and
/// one above. Empty: the pool has no slots, so only 0 fits.
[[nodiscard]] std::vector<std::int64_t> slots_that_would_do(std::int64_t slots,
                                                            std::span<const std::int32_t> sizes);

}  // namespace hostler::pushed
