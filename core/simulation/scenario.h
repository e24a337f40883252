#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/model/records.h"

/// The things that are simulated: a policy, the work that arrives, and clouds. Values only.
namespace hostler::simulation {

using namespace std::chrono_literals;

/// How long something lasts. A spread around nothing is always `least`.
struct Spread {
  Duration least{}, most{};            ///< Uniform between both, if `mean` is 0.
  Duration mean{};                     ///< Exponential with this mean, ten times as long at most.
  std::vector<Duration> samples = {};  ///< Not empty: one of these, each as likely.
};

/// Jobs that are alike, and when they arrive.
struct Arrivals {
  std::string user = "user";
  model::WorkShape shape = {};
  Spread runs{.least = 1min, .most = 1min};
  double fails = 0;          ///< The part of the jobs that fails.
  Duration from{}, until{};  ///< The jobs arrive in this time.
  std::uint64_t count = 0;   ///< So many at `from`; or 0:
  double per_hour = 0;       ///< at random times, so many per hour on average; or 0:
  Duration every{};          ///< at equal intervals.
};

/// A scheduler that is not hostler's: it pushes the tasks that wait for hosts of a pool, and runs
/// them there.
struct PushedLoad {
  std::string pool;
  Duration interval = 5s;                         ///< Between two pushes.
  std::map<std::string, std::int64_t> group_max;  ///< Slots that the tasks of a group may use.
  /// Slots of placeholders: room that it keeps for next tasks.
  std::vector<std::int32_t> spare = {};
  /// Their `user` is the group, empty: none; `shape.needs.slots` is what a task needs.
  std::vector<Arrivals> tasks;
};

/// Jobs of a file in the Standard Workload Format.
/// https://www.cs.huji.ac.il/labs/parallel/workload/swf.html
struct Trace {
  std::filesystem::path file;
  std::int32_t vcpus_per_processor = 1;
  std::int64_t ram = std::int64_t{1} << 30;  ///< Of jobs of which the trace does not say it.
  bool restartable = true;
};

/// A price of a type from a time on.
struct PriceChange {
  Duration at{};
  std::string type;
  model::Micros per_hour;
};

/// A price that a cloud asked for, from a time on.
struct RecordedPrice {
  Duration at{};
  std::string provider_type;
  model::Market market = model::Market::kOnDemand;
  model::Micros per_hour;  ///< In the currency of the cloud.
};

/// Lists of the cloud are empty for a time, which is false.
struct EmptyLists {
  Duration from{}, lasting{};
};

/// How the cloud of one set behaves.
struct CloudModel {
  Spread create{.least = 1s, .most = 1s};      ///< Until a call that makes a machine ends.
  Spread boot{.least = 30s, .most = 30s};      ///< From then until hostler can log in.
  Spread destroy{.least = 5s, .most = 5s};     ///< Until the machine is gone.
  std::uint64_t quota = 0;                     ///< Machines at once; 0: no limit.
  std::map<std::string, std::uint64_t> stock;  ///< By type: machines at once; not named: no limit.
  std::vector<PriceChange> prices;             ///< By time.
  std::vector<RecordedPrice> recorded_prices;  ///< By time.
  std::string recorded_currency;               ///< Of these; empty: that of the site.
  std::vector<EmptyLists> empty_lists;
  double creates_fail = 0;           ///< The part of the creates for which there is no capacity.
  double answers_lost = 0;           ///< The part of the creates that are done and not answered.
  double calls_fail = 0;             ///< The part of all calls that fail and may be tried again.
  double boots_fail = 0;             ///< The part of the machines that never come up.
  double machines_lost_per_day = 0;  ///< Of each machine, on average.
};

/// The value of a metric from a time on.
struct MetricPoint {
  Duration at{};                ///< Since the start of the simulation.
  std::optional<double> value;  ///< Unset: its source does not answer, or has nothing of this key.
};
/// By the value of the metric's label `by`, the points by time; of a metric without one by "".
using MetricSeries = std::map<std::string, std::vector<MetricPoint>>;

struct Scenario {
  std::uint64_t seed = 1;
  Wall starts{1'700'000'000'000'000};  ///< The clock on the wall when it begins.
  Duration lasts = 24h;                ///< The simulation ends then, whatever is left.
  std::vector<Arrivals> arrivals;
  std::vector<Trace> traces;
  std::vector<PushedLoad> pushed;            ///< One for each pool at most.
  std::map<std::string, CloudModel> clouds;  ///< By set; sets that are not named have the defaults.
  std::map<std::string, MetricSeries> metrics;  ///< By name.
  std::filesystem::path config;                 ///< Absolute; empty: the options name one.
};

inline constexpr Duration kLastsMax = 24h * 366;

/// Where a simulation stops.
struct Limits {
  std::uint64_t jobs = 10'000'000;        ///< That arrive.
  std::int64_t jobs_waiting = 2'000'000;  ///< At once: they take memory.
  std::uint64_t events = 1'000'000'000;
};

}  // namespace hostler::simulation
