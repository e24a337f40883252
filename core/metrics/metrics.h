#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"
#include "core/model/cloud.h"
#include "core/model/instance.h"
#include "core/model/job.h"
#include "core/model/offering.h"

/// The metrics of hostlerd. The only folder that uses prometheus-cpp, which is not visible in this
/// header.
namespace hostler::metrics {

/// Milestones of a new instance. Times are measured from the intent to create it.
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
  kNotYet,    ///< No method has verified the host; tried again until the boot deadline.
  kKeyAlarm,  ///< A verified host has presented a different key.
};

/// Kinds of work of the daemon's loop.
enum class LoopWork : std::uint8_t {
  kCloud,    ///< The answer of a driver.
  kHost,     ///< An event of a link to a host.
  kRequest,  ///< A submit, a cancel, or a request of an admin.
  kPlan,     ///< Applying a plan.
  kUpkeep,   ///< A new policy, or removing old jobs.
  kLook,     ///< A query of the state.
  kTick,     ///< Timers that are due, and passing on changes.
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

struct SetStatus {
  std::string set;
  bool open = false;
  bool foreign_owner = false;
};

struct PoolStatus {
  std::string pool;
  std::size_t instances = 0;
  std::size_t instances_max = 0;
};

struct WaitingCount {
  std::string reason;  ///< Reason code of the scheduler.
  std::size_t count = 0;
};

struct StoreStatus {
  bool commits = true;       ///< The last try succeeded.
  bool takes_output = true;  ///< The last piece of a job's output could be stored.
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
/// Every method may be called from any thread. They block only for short mutexes; only text() does
/// I/O, it reads a few files of /proc. None fails. Labels are only names from the config and enums
/// of core/model. So hosts and users cannot create new time series.
class Metrics {
 public:
  explicit Metrics(std::string version = "dev");
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The present state. Each call replaces all values of the previous call.
  void set_instances(const std::vector<InstanceCount>& counts);
  void set_hosts(const std::vector<HostCount>& counts);
  void set_prices(const std::vector<PriceSum>& sums);
  void set_gates(const std::vector<GateCount>& counts);
  void set_sets(const std::vector<SetStatus>& sets);
  void set_pools(const std::vector<PoolStatus>& pools);
  void set_waiting(const std::vector<WaitingCount>& counts);

  /// `state` must not be an end state: ended jobs are not counted here.
  void set_jobs(model::WorkState state, std::size_t count);
  /// The age of the job that has waited longest; 0 if none waits.
  void set_queue_age(Duration oldest);
  /// The price ceiling of the site; 0: none.
  void set_price_max(model::Micros per_hour);
  /// The number of events that wait for the loop, and how long the last query of its state waited.
  void set_loop(std::size_t events, Duration lag);
  void set_store(const StoreStatus& status);

  // Events of jobs.
  void job_submitted();
  /// The daemon has decided to start an attempt.
  void attempt_started();
  /// Time from the submit to the start of the first attempt.
  void job_waited(Duration time);
  /// `ran`: duration of the last attempt; nullopt if no host reported the end of an attempt.
  void job_ended(model::WorkState state, model::EndReason reason, std::optional<Duration> ran);
  /// Output of jobs was received from hosts.
  void output_came(std::size_t bytes);

  // Events of instances and hosts.
  void boot_ended(std::string_view set, std::string_view type, BootOutcome outcome);
  void host_reached(std::string_view set, Milestone milestone, Duration since_request);
  /// `error` is the error class of a failed call, nullopt for a successful one.
  void driver_call(std::string_view set, model::CloudOp op,
                   std::optional<model::CloudErrorClass> error, Duration took);
  /// `method` has verified the host; nullopt if none has.
  void verification(std::optional<model::VerifyMethod> method, VerifyOutcome outcome);
  /// `event` must be a literal: "ready", "lost", ...
  void host_event(std::string_view event);
  /// Something needs the attention of an admin. `event` is the event code in the ledger.
  void alarm(std::string_view event);

  // Work of the daemon.
  void loop_work(LoopWork kind, Duration took);
  void plan_made(Duration took);
  /// `action` must be a literal: "place", "create", ...
  void planned(std::string_view action, std::size_t count);
  /// Time from the commit request of the loop until the change was durable.
  void store_commit(Duration took, bool succeeded);
  /// One try to write the waiting changes, in one transaction.
  void store_try(Duration took, std::size_t changes, bool succeeded);
  /// `route` is a pattern such as "/v1/jobs/{id}", never the path of a request.
  void request_answered(std::string_view method, std::string_view route, unsigned status,
                        Duration took);
  /// An event stream opened (1) or ended (-1).
  void streams_changed(int by);

  /// All metrics in the text format of Prometheus; the series of a family are ordered by labels.
  [[nodiscard]] std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace hostler::metrics
