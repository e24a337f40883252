#include "core/fleet/legal.h"

#include "core/base/assert.h"

namespace hostler::fleet {
namespace {

using model::InstanceState;

/// Its machine may run, so its host may be connected.
bool may_have_link(InstanceState state) {
  return state == InstanceState::kBooting || state == InstanceState::kUnknown ||
         state == InstanceState::kIdle || state == InstanceState::kBusy;
}

/// It was ready when its host was lost.
bool may_be_unreachable(InstanceState state) {
  return state == InstanceState::kIdle || state == InstanceState::kBusy ||
         state == InstanceState::kTerminating || state == InstanceState::kAbandoned ||
         state == InstanceState::kGone;
}

}  // namespace

void assert_legal(const Instance& instance) {
  const auto& record = instance.record;
  const auto& link = instance.link;
  HOSTLER_ASSERT(may_have_link(record.state) || (!link.is_live() && !link.is_ready()),
                 "only the host of a machine that may run is connected or ready");
  HOSTLER_ASSERT(!link.has_agent() || link.is_ready(), "a host whose agent answers is ready");
  HOSTLER_ASSERT(!link.unreachable_since() || may_be_unreachable(record.state),
                 "only a host that was ready can be lost");
  HOSTLER_ASSERT(!link.unreachable_since() || record.health != model::Health::kHealthy,
                 "a host that cannot be reached is not healthy");
  const auto& occupancy = instance.occupancy;
  HOSTLER_ASSERT(
      !occupancy.is_lent() || (occupancy.active_attempts() == 0 && occupancy.claims().size() == 1),
      "a host that is lent is lent once, and runs no attempt");
  HOSTLER_ASSERT(!instance.notices.is_cordoned() || record.interruption,
                 "a cordoned host has a notice that counts");
  HOSTLER_ASSERT(!record.drain_over || record.drain_began.us != 0,
                 "a drain that is over has begun");
}

}  // namespace hostler::fleet
