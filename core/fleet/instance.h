#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"
#include "core/fleet/occupancy.h"
#include "core/model/host.h"
#include "core/model/policy.h"
#include "core/model/records.h"

namespace hostler::fleet {

inline constexpr Mono kNever = Mono::max();

/// A cloud may still carry a create out after it was given up; hardly later than this.
inline constexpr Duration kCreateMayLag = std::chrono::minutes(10);

/// One instance in memory: its durable record, and what a restart may forget.
struct Instance {
  model::InstanceRecord record;
  std::uint32_t set = 0, pool = 0;    ///< Indices into SitePolicy.
  std::optional<std::uint32_t> type;  ///< Index into the menu; unset: it has left the menu.

  Mono created;            ///< Its intent, or its adoption.
  Mono since;              ///< In its state; an idle one is idle since then.
  Mono deadline = kNever;  ///< Of its state; fires Due.
  std::optional<Mono> unreachable_since;

  Mono known_at;  ///< When its create was sent or it was last seen listed: older lists say nothing.
  Mono absent_at;  ///< Last sighting of its absence.
  bool seen_listed = false;
  bool create_outcome_unknown = false;
  std::uint32_t create_tries = 0;
  bool unfulfilled_spot = false;
  /// It was switched, or proved to be on, then: older lists say nothing of that.
  Mono power_at = Mono::min();
  bool seen_stopped = false;        ///< kStopped: the cloud says so too.
  std::uint32_t wakes_in_vain = 0;  ///< Since it was last ready.

  std::uint64_t connection = 0;  ///< Of the last HostReady.
  bool ready = false;            ///< That connection still stands.
  /// Who answers at its address is not the host. A restart forgets it: the next try shows it again.
  std::optional<model::StandingKeyAlarm> key_alarm;
  bool resting = false;             ///< Refused starts: no more until the deadline.
  std::uint32_t refusals = 0;       ///< Of starts, one after another.
  std::uint64_t refused_until = 0;  ///< Starts up to this sequence are counted in them.
  Occupancy occupancy;

  [[nodiscard]] bool empty() const { return occupancy.empty(); }
  /// May cost money: all but a create that was given up, and that a list lacked long after.
  [[nodiscard]] bool may_exist() const {
    return record.state != model::InstanceState::kAbandoned || absent_at < since + kCreateMayLag;
  }
  /// Never asked for again: its create, and the secrets in it, may be forgotten.
  [[nodiscard]] bool create_is_over() const {
    return record.verified.us != 0 || record.state == model::InstanceState::kTerminating ||
           record.state == model::InstanceState::kAbandoned ||
           record.state == model::InstanceState::kGone;
  }
  /// May be given work now.
  [[nodiscard]] bool takes_work() const {
    return ready && !resting && record.health == model::Health::kHealthy &&
           record.idle_behavior == model::IdleBehavior::kRun &&
           (record.state == model::InstanceState::kIdle ||
            record.state == model::InstanceState::kBusy);
  }
};

}  // namespace hostler::fleet
