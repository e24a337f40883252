#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"
#include "core/simulation/timeline.h"

namespace hostler::sim {

using namespace std::chrono_literals;
using simulation::Timeline;

struct Range {
  std::uint64_t low = 0, high = 0;  ///< Both are included.
};

/// The size of a site and the events of its day. The seed chooses values within these limits. The
/// defaults are those of the tests: a small site with eight minutes of faults.
struct Day {
  Duration trouble = 8min;     ///< How long faults and requests of users continue.
  Duration patience = 150min;  ///< Afterwards all work must end within this time.

  std::int32_t fleet = 8;        ///< The `max` of its pool.
  bool ceilings = true;          ///< Some seeds have ceilings; they fit a fleet of 8.
  Duration list_interval_min{};  ///< The pause that the driver requires between two lists.
  Duration keep_alive = 5s;      ///< Between two checks of a link whether its host is there.

  Range bursts{1, 4}, burst_jobs{1, 8};
  Duration burst = 2s;          ///< From the first submit of a burst to the last.
  Duration longest_job = 1min;  ///< Three in ten jobs are a thousand times shorter.
  Duration every_job{};         ///< Unless 0: all jobs last so long, and each needs one vcpu.
  std::optional<Duration> idle_timeout = {};  ///< Of the pool; unset: up to 30 s.
  double again = 0.3;  ///< The part of the forgotten jobs that is submitted again.

  double faults = 1;  ///< Factor for the probability of each fault of a call or a connection.
  Range kills{0, 4}, machines_lost{0, 5}, connections_lost{0, 14}, clock_jumps{0, 2};
  Range spells{0, 3};      ///< How often lists lie for a while.
  double ids_lie = 0.2;    ///< The part of the days on which look-ups by id lie as lists do.
  double barren = 0.25;    ///< The part of the days on which new machines fail for a while.
  Range partitions{0, 2};  ///< How often half of the hosts, or all, cannot be reached for a while.
  double greedy = 0.15;    ///< The part of the days on which one user submits beyond all quotas.
  double liars = 0.2;      ///< The part of the days on which one host in three reports falsehoods.
  double old_states = 0.25;  ///< The part of the days on which an old copy of the disk is put back.
  bool pool_days = true;     ///< Some days have what pool_days.h says.
  bool leases = true;        ///< Some days have what borrowers.h says.
  Range meddling{0, 11};     ///< Number of requests of admins and submitters.
};

}  // namespace hostler::sim
