#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/scheduler/snapshot.h"

/// Plans that anybody can ask for: a snapshot as JSON in, the decisions and their reasons as JSON
/// out. The formats are config/plan.schema.json and config/plan-answer.schema.json. Pure.
namespace hostler::planning {

/// Raised when a reader of the version before would misunderstand a snapshot or an answer.
inline constexpr std::int32_t kVersion = 1;

/// All that a plan depends on.
struct Question {
  model::SitePolicy policy;  ///< Of its members those that plans go by.
  scheduler::Snapshot snapshot;
  std::optional<Wall> time;  ///< When the snapshot was taken; for people.
};

}  // namespace hostler::planning
