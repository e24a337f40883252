#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace hostler::sim {

using namespace std::chrono_literals;

struct Range {
  std::uint64_t low = 0, high = 0;  ///< Both are in it.
};

/// How large a site is and what happens to it. The seed throws its dice within this; unless told
/// otherwise it is the small site of the tests and its eight bad minutes.
struct Day {
  Duration trouble = 8min;     ///< How long faults and people go on.
  Duration patience = 150min;  ///< Then all must come to rest within this.

  std::int32_t fleet = 8;        ///< Instances that its pool may have.
  bool ceilings = true;          ///< By chance; they are those of a fleet of 8.
  Duration list_interval_min{};  ///< As its driver says: a list no more often, whatever happens.
  Duration keep_alive = 5s;      ///< Between two looks of a link whether its host is still there.

  Range bursts{1, 4}, burst_jobs{1, 8};
  Duration burst = 2s;          ///< From the first submit of one to its last.
  Duration longest_job = 1min;  ///< Three in ten are a thousand times quicker.
  double again = 0.3;           ///< Of the jobs that are forgotten, wanted once more.

  double faults = 1;  ///< How much of each chance of a fault of a call or a connection.
  Range kills{0, 4}, machines_lost{0, 5}, connections_lost{0, 14}, clock_jumps{0, 2};
  Range meddling{0, 11};  ///< By admins and submitters.
};

}  // namespace hostler::sim
