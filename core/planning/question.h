#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/model/push.h"
#include "core/scheduler/snapshot.h"

/// Plans that anybody can ask for: a snapshot as JSON in, the decisions and their reasons as JSON
/// out. The formats are config/plan.schema.json and config/plan-answer.schema.json. Pure.
namespace hostler::planning {

/// Raised when a reader of the version before would misunderstand a snapshot or an answer.
inline constexpr std::int32_t kVersion = 1;

/// The last push for a pool, as far as plans go by it: tasks or
/// `desired_new`, and `group_max`.
struct LastPush {
  Duration age{};
  model::Push push;
  friend bool operator==(const LastPush&, const LastPush&) = default;
};

/// All that a plan depends on.
struct Question {
  model::SitePolicy policy;  ///< Of its members those that plans go by.
  scheduler::Snapshot snapshot;
  std::optional<Wall> time;  ///< When the snapshot was taken; for people.
  /// By pool; may be shorter. Where it is set, it is what the tasks of the snapshot and the bounds
  /// of the source `pushed` were made of, and is written in their place.
  std::vector<std::optional<LastPush>> pushes = {};
};

}  // namespace hostler::planning
