#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/push.h"
#include "core/model/records.h"

/// What pushed tasks ask for, as work of a plan. Pure.
namespace hostler::pushed {

/// Equal tasks. None is ever placed: hosts are found and bought for them.
struct TaskClass {
  model::WorkShape shape;  ///< Of the pool only.
  std::uint64_t count = 0;
  friend bool operator==(const TaskClass&, const TaskClass&) = default;
};
struct Demand {
  std::vector<TaskClass> classes;  ///< By slots, most first.
  std::vector<model::NeverFits> never_fits;
  std::uint64_t tasks =
      0;                   ///< That wait and fit, those that a group's maximum holds back included.
  std::int64_t slots = 0;  ///< That they ask for, groups' maximums applied.
  friend bool operator==(const Demand&, const Demand&) = default;
};

/// `sizes`: the slots of the types of the pool, ascending, each once; 0 for types without slots.
/// - With one size S above 0 the demand is `max(ceil(aux / aux_per_agent), ceil(slots / S))` whole
///   hosts, and a task counts if its slots are at most S or a multiple of S.
/// - With several sizes, tasks are items of their slots, which the plan packs. A task wider than
/// the
///   largest size is several whole hosts of a size that divides it. Tasks without slots ask for the
///   hosts that those of tasks with slots leave missing.
/// - The tasks of a group count up to its maximum of slots.
/// - `desired_new` asks for so many whole hosts of any size.
/// O(tasks log tasks). Numbers saturate.
[[nodiscard]] Demand demand_of(const model::Push& push, std::span<const std::int32_t> sizes,
                               const std::string& pool, const model::PushedPolicy& policy);

/// The nearest numbers of slots that a task may have, at most one below and one above; empty: the
/// pool has no slots.
[[nodiscard]] std::vector<std::int64_t> slots_that_would_do(std::int64_t slots,
                                                            std::span<const std::int32_t> sizes);

}  // namespace hostler::pushed
