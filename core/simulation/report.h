#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

namespace hostler::simulation {

/// The site at one moment.
struct Sample {
  Duration at{};
  std::int64_t waiting = 0, running = 0;         ///< Jobs.
  std::int64_t booting = 0, idle = 0, busy = 0;  ///< Hosts.
};

/// Tasks of outside schedulers, of all pools together.
struct TaskFigures {
  std::uint64_t arrived = 0, ended = 0;
  std::uint64_t started_again = 0;        ///< Their host had gone.
  std::uint64_t never_fit = 0;            ///< Given up, as no host of the pool is of use.
  std::int64_t waiting = 0, running = 0;  ///< In the end.
  bool has_waits = false;                 ///< Some task has arrived.
  /// From the arrival to the first start; of tasks that have not started, to the end.
  Duration wait_mean{}, wait_median{}, wait_p95{}, wait_most{};
  std::uint64_t pushes = 0, pushes_refused = 0;
  std::string refusal;  ///< The first reason.
};

/// The result of a simulation: a member for each figure.
struct Report {
  Duration lasted{};
  bool reached_limit = false;  ///< It ended at Limits::events, before its time.
  // Jobs.
  std::uint64_t submitted = 0, succeeded = 0, failed = 0, cancelled = 0;
  std::uint64_t refused = 0;              ///< Submits that the site refused.
  std::string refusal;                    ///< The first reason.
  std::uint64_t skipped = 0;              ///< Of traces: they ran nowhere.
  std::int64_t waiting = 0, running = 0;  ///< In the end.
  std::uint64_t started_again = 0;        ///< Attempts beyond the first of each job.
  bool has_waits = false;                 ///< Some job was accepted.
  /// From the submit to the first start; of jobs that have not started, to the end.
  Duration wait_median{}, wait_p95{}, wait_most{};
  // Hosts.
  std::uint64_t hosts = 0;  ///< Created by the cloud.
  std::uint64_t creates_refused = 0;
  std::uint64_t never_used = 0;    ///< Of those that are gone: no job, no agent of a scheduler.
  std::uint64_t never_ready = 0;   ///< Of these: they did not come up, or were ended before.
  std::int64_t hosts_at_once = 0;  ///< Booting or ready.
  double host_hours = 0, vcpu_hours_bought = 0, vcpu_hours_used = 0;
  double cost = 0;          ///< In the site's currency.
  std::uint64_t gates = 0;  ///< So often a gate was shut.
  std::uint64_t plans = 0, events = 0;
  TaskFigures tasks;
  std::vector<Sample> samples;  ///< By time, at most kSamplesMax.
};

inline constexpr std::size_t kSamplesMax = 2000;

/// A report and its name, for a comparison.
struct Named {
  std::string name;
  Report report;
};

/// For people: a column for each report. `currency` may be empty.
[[nodiscard]] std::string to_text(const std::vector<Named>& reports, std::string_view currency);
/// The same as JSON: an object with the array "runs".
[[nodiscard]] std::string to_json(const std::vector<Named>& reports, std::string_view currency);

}  // namespace hostler::simulation
