#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"
#include "core/model/card.h"
#include "core/model/cloud.h"
#include "core/model/event.h"
#include "core/model/instance.h"
#include "core/model/job.h"
#include "core/model/offering.h"
#include "core/model/views.h"

/// The metrics of hostlerd. Only this folder uses prometheus-cpp, and no header shows it.
namespace hostler::metrics {

/// Steps of a new instance's life. The time of each is measured from the decision to create it.
enum class Milestone : std::uint8_t { kVerified, kReady, kFirstJob };

enum class BootOutcome : std::uint8_t {
  kReady,
  kRefused,   ///< The cloud refused the create.
  kFailed,    ///< The cloud lists the instance as failed, or no longer lists it.
  kTimeout,   ///< Not verified and probed before the boot deadline.
  kUnwanted,  ///< Destroyed while it booted: surplus, drained or killed.
};

enum class VerifyOutcome : std::uint8_t {
  kProved,
  kNotYet,    ///< No accepted method could prove the host; tried again until the boot deadline.
  kKeyAlarm,  ///< After the first success the host showed another key.
};

/// The kinds of work of the daemon's loop.
enum class LoopWork : std::uint8_t {
  kCloud,    ///< The answer of a driver.
  kHost,     ///< An event of a host's link.
  kRequest,  ///< A submit, a cancel or a request of an admin.
  kPlan,     ///< A plan to apply.
  kUpkeep,   ///< A new policy, forgotten jobs.
  kQuery,    ///< A query of its state.
  kTick,     ///< Expired deadlines, and handing over the changes.
};

struct InstanceCount {
  std::string set, type;  ///< `type`: its name in the config.
  model::InstanceState state{};
  std::size_t count = 0;
};

struct PriceSum {
  std::string set;
  model::Micros per_hour;
};

struct HostCount {
  std::string set;
  model::Health health{};
  std::size_t count = 0;
};

struct CardCount {
  std::string pool;
  model::CardState state{};
  std::size_t count = 0;
};

struct SetStatus {
  std::string set;
  bool open = false;
  bool foreign_owner = false;
};

/// Things that outlived their instances.
struct LeftoverCount {
  std::string set;
  std::size_t found = 0, confirmed = 0, destroying = 0;
};

struct PoolStatus {
  std::string pool;
  std::size_t instances = 0;
  std::size_t instances_max = 0;
  struct Bound {
    std::string name;
    std::int64_t number = 0;            ///< That plans go by.
    std::optional<bool> is_known = {};  ///< Of an expression: whether it gives a number.
  };
  std::vector<Bound> bounds = {};
  /// Of a pool that an outside scheduler sizes.
  struct Pushed {
    std::optional<Duration> age = {};  ///< Of the last push; unset: none since the start.
    std::uint64_t tasks = 0;
    std::size_t going = 0;
  };
  std::optional<Pushed> pushed = {};
};

struct StoreStatus {
  bool commits = true;       ///< The last try succeeded.
  bool disk_full = false;    ///< Only rows are written.
  bool takes_output = true;  ///< The last piece of a job's output could be written.
  std::size_t waiting = 0;   ///< Commits that are not durable yet.
  std::uint64_t disk_bytes = 0, disk_free_bytes = 0;  ///< Of the state folder's file system.
};

struct GateCount {
  std::string set;
  model::CloudErrorClass cls{};  ///< A class that has gates.
  std::size_t count = 0;
};

/// The metrics that docs/metrics.md lists, and those of the process.
///
/// Threads: every method may be called from any thread. Blocking: a method waits for a short mutex
/// at most; only text() does I/O, it reads a few files of /proc. Errors: none. Labels are names of
/// the configuration and codes of core/model only: hosts and users cannot make new time series.
class Metrics {
 public:
  explicit Metrics(std::string version = "dev");
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The present state. Each call replaces the values of the call before it: a series that it does
  // not name is removed.
  void set_instances(const std::vector<InstanceCount>& counts);
  /// Counts of equal labels are added up.
  void set_hosts(const std::vector<HostCount>& counts, const std::vector<CardCount>& cards = {});
  void set_prices(const std::vector<PriceSum>& sums);
  void set_gates(const std::vector<GateCount>& counts);
  void set_sets(const std::vector<SetStatus>& sets);
  void set_leftovers(const std::vector<LeftoverCount>& counts);
  /// `used`: the metrics that their expressions use; outcomes of readings are words of
  /// docs/metrics.md.
  void set_pools(const std::vector<PoolStatus>& pools,
                 const std::vector<model::MetricStatus>& used);
  /// Queued jobs by why they wait; a code that is not in it has none.
  void set_waiting(const std::map<model::WaitingCode, std::uint64_t>& jobs);

  /// `state` is not terminal: work that has ended is not counted here.
  void set_work(model::WorkKind kind, model::WorkState state, std::size_t count);
  /// How long the oldest queued job has waited; 0 if none waits.
  void set_queue_age(Duration oldest);
  /// The ceiling of the site's price per hour; 0: none.
  void set_price_max(model::Micros per_hour);
  /// Events that wait for the loop, and how long the last query of its state waited.
  void set_loop(std::size_t events, Duration lag);
  void set_store(const StoreStatus& status);
  /// Time until the TLS certificate expires; negative after that. Without a call: infinite.
  void set_certificate(Duration left);
  /// The last reload of the configuration.
  void set_reload_refused(bool refused);

  // Work.
  void work_submitted(model::WorkKind kind);
  /// Time from the submit to the start of the first attempt, or to the grant.
  void work_waited(model::WorkKind kind, Duration time);
  /// The dispatcher decided to start an attempt.
  void attempt_started();
  /// `ran`: the run time of the last attempt; nullopt if no host reported its end.
  void job_ended(model::WorkState state, model::EndReason reason, std::optional<Duration> ran);
  void lease_ended(model::EndReason reason);
  /// `result` must be a literal: "granted", "let_go" or "refused".
  void gangs(std::string_view result, std::uint64_t count);
  /// A piece of a job's stdout or stderr came from a host.
  void output_came(std::size_t bytes);

  // Instances and hosts.
  void boot_ended(std::string_view set, std::string_view type, BootOutcome outcome);
  void host_reached(std::string_view set, Milestone milestone, Duration since_request);
  /// `error` is the error's class if the call failed, else nullopt.
  void driver_call(std::string_view set, model::CloudOp op,
                   std::optional<model::CloudErrorClass> error, Duration took);
  /// `method` is the one that proved the host; nullopt if none did.
  void verification(std::optional<model::VerifyMethod> method, VerifyOutcome outcome);
  /// `event` must be a literal: "ready", "lost", ...
  void host_event(std::string_view event);
  /// One ledger record of an event of severity alarm.
  void alarm(model::Event event);

  // The daemon itself.
  void loop_work(LoopWork kind, Duration took);
  void plan_made(Duration took);
  /// `action` must be a literal: "place", "create", ...
  void planned(std::string_view action, std::size_t count);
  /// `took`: from the loop's request until the changes were durable.
  void store_commit(Duration took, bool succeeded);
  /// One try to write the waiting changes, in one transaction.
  void store_try(Duration took, std::size_t changes, bool succeeded);
  /// `route` is a pattern of the route table, never the path of a request.
  void request_answered(std::string_view method, std::string_view route, unsigned status,
                        Duration took);
  /// An event stream opened (1) or ended (-1).
  void streams_changed(int by);

  /// All metrics in Prometheus' text format; the series of a family are sorted by their labels.
  [[nodiscard]] std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace hostler::metrics
