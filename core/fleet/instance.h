#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"
#include "core/fleet/creating.h"
#include "core/fleet/deadline.h"
#include "core/fleet/ending.h"
#include "core/fleet/link.h"
#include "core/fleet/listing.h"
#include "core/fleet/notices.h"
#include "core/fleet/occupancy.h"
#include "core/fleet/power.h"
#include "core/fleet/refusals.h"
#include "core/fleet/told.h"
#include "core/model/records.h"

namespace hostler::fleet {

/// One instance in memory: its durable record, and state that a restart may lose, in groups. They
/// are the state of one state machine: a step reads several of them, and each changes only by its
/// own functions. assert_legal() says what holds between them.
struct Instance {
  model::InstanceRecord record;
  std::uint32_t set = 0, pool = 0;    ///< Indices into SitePolicy.
  std::optional<std::uint32_t> type;  ///< Index into the menu; unset: it has left the menu.

  Mono since;              ///< When it entered its state; an idle one became idle.
  Mono deadline = kNever;  ///< Of its state; due() is called then.

  Listing listing;
  Creating creating;
  Ending ending;
  Power power;

  Link link;
  Notices notices;
  Told told;
  Refusals refusals;  ///< A rest ends at the deadline.
  Occupancy occupancy;

  [[nodiscard]] bool empty() const { return occupancy.empty(); }
  /// Its drain is under way.
  [[nodiscard]] bool drains() const {
    return record.drain_began.us != 0 && !record.drain_over &&
           record.state != model::InstanceState::kTerminating &&
           record.state != model::InstanceState::kAbandoned &&
           record.state != model::InstanceState::kGone;
  }
  /// It may exist and cost money. False for a create that was given up, once a list much later did
  /// not show it, and for an instance that vanished some time ago.
  [[nodiscard]] bool may_exist() const {
    if (record.state == model::InstanceState::kVanished) return listing.counts_vanished();
    return record.state != model::InstanceState::kAbandoned ||
           listing.absent_at() < since + kCreateMayLag;
  }
  /// The create is never sent again: the request and the secrets in it may be erased.
  [[nodiscard]] bool create_is_over() const {
    return record.verified.us != 0 || record.ready.us != 0 ||
           record.state == model::InstanceState::kTerminating ||
           record.state == model::InstanceState::kAbandoned ||
           record.state == model::InstanceState::kVanished ||
           record.state == model::InstanceState::kGone;
  }
  /// It may be lent now, as far as its uses allow.
  [[nodiscard]] bool takes_work() const {
    return link.is_ready() && !record.restored && !refusals.is_resting() &&
           !notices.is_cordoned() && !occupancy.output_waits() && !occupancy.runs_unplaced() &&
           !occupancy.is_lent() && !occupancy.cards().are_unread() && !listing.is_withheld() &&
           record.health == model::Health::kHealthy && record.drain_began.us == 0 &&
           record.idle_behavior == model::IdleBehavior::kRun &&
           (record.state == model::InstanceState::kIdle ||
            record.state == model::InstanceState::kBusy);
  }
  /// Attempts of jobs may be placed on it too.
  [[nodiscard]] bool takes_jobs() const { return takes_work() && link.has_agent(); }
};

}  // namespace hostler::fleet
