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

/// What hostlerd counts. The only home of prometheus-cpp, which no header shows.
namespace hostler::metrics {

/// How far a new instance has come. Each is counted from the create's intent.
enum class Milestone : std::uint8_t { kVerified, kReady, kFirstJob };

enum class BootOutcome : std::uint8_t {
  kReady,
  kRefused,   ///< The cloud did not take the create.
  kFailed,    ///< The cloud lists it as failed, or it vanished.
  kTimeout,   ///< Not verified and probed before the boot deadline.
  kUnwanted,  ///< Destroyed while booting: surplus, drained or killed.
};

enum class VerifyOutcome : std::uint8_t {
  kProved,
  kNotYet,    ///< No accepted method could prove it; asked again until the boot deadline.
  kKeyAlarm,  ///< After the first success another key was shown.
};

/// What the loop works on.
enum class LoopWork : std::uint8_t {
  kCloud,    ///< What a driver answered.
  kHost,     ///< What a host's link said.
  kRequest,  ///< A submit, a cancel, an admin's wish.
  kPlan,     ///< A plan to apply.
  kUpkeep,   ///< A new policy, forgotten jobs.
  kLook,     ///< A reader of its state.
  kTick,     ///< What is due, and handing over what changed.
};

struct InstanceCount {
  std::string set, type;  ///< `type`: the menu's name.
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
  std::string reason;  ///< A code of the scheduler's.
  std::size_t count = 0;
};

struct StoreStatus {
  bool commits = true;       ///< The last try succeeded.
  bool takes_output = true;  ///< The last piece of a job's output could be written away.
  std::size_t waiting = 0;   ///< Commits that are not durable yet.
  std::uint64_t disk_bytes = 0, disk_free_bytes = 0;  ///< Of the state folder's file system.
};

struct GateCount {
  std::string set;
  model::CloudErrorClass cls{};  ///< One that has gates.
  std::size_t count = 0;
};

/// The families that docs/metrics.md lists, and those of the process.
///
/// Threads: every method from any thread. Blocking: none waits for more than a short mutex; no
/// I/O but text()'s, which reads a few files of /proc. Errors: none. Labels are names from the
/// config and the enums of core/model only, so that what hosts and submitters send cannot make new
/// time series.
class Metrics {
 public:
  explicit Metrics(std::string version = "dev");
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // What is, now. Each call replaces the last one's counts as a whole: what is not in it is gone.
  void set_instances(const std::vector<InstanceCount>& counts);
  void set_hosts(const std::vector<HostCount>& counts);
  void set_prices(const std::vector<PriceSum>& sums);
  void set_gates(const std::vector<GateCount>& counts);
  void set_sets(const std::vector<SetStatus>& sets);
  void set_pools(const std::vector<PoolStatus>& pools);
  void set_waiting(const std::vector<WaitingCount>& counts);

  /// Of a state that is no end: what has ended is not counted here.
  void set_jobs(model::WorkState state, std::size_t count);
  /// Of the job that waits longest; 0 when none waits.
  void set_queue_age(Duration oldest);
  /// The site's ceiling; 0: none.
  void set_price_max(model::Micros per_hour);
  /// Events that wait for the loop, and how long the last look at its state waited.
  void set_loop(std::size_t events, Duration lag);
  void set_store(const StoreStatus& status);

  // What happened to jobs.
  void job_submitted();
  /// An attempt's start was decided.
  void attempt_started();
  /// From the submit to the start of the first attempt.
  void job_waited(Duration time);
  /// `ran`: the last attempt; nullopt where none ran to an end that its host saw.
  void job_ended(model::WorkState state, model::EndReason reason, std::optional<Duration> ran);
  /// Of jobs' stdout and stderr, as it came from hosts.
  void output_came(std::size_t bytes);

  // What happened to instances and hosts.
  void boot_ended(std::string_view set, std::string_view type, BootOutcome outcome);
  void host_reached(std::string_view set, Milestone milestone, Duration since_request);
  /// `error` is the class of a call that failed, nullopt of one that succeeded.
  void driver_call(std::string_view set, model::CloudOp op,
                   std::optional<model::CloudErrorClass> error, Duration took);
  /// `method` is the one that proved the host; nullopt where none did.
  void verification(std::optional<model::VerifyMethod> method, VerifyOutcome outcome);
  /// `event` is a literal: "ready", "lost", ...
  void host_event(std::string_view event);
  /// `event` is the ledger's word for what an admin is to look at.
  void alarm(std::string_view event);

  // What the daemon itself did.
  void loop_work(LoopWork kind, Duration took);
  void plan_made(Duration took);
  /// `action` is a literal: "place", "create", ...
  void planned(std::string_view action, std::size_t count);
  /// From the loop's word to its being durable.
  void store_commit(Duration took, bool succeeded);
  /// One try to write what waits, in one transaction.
  void store_try(Duration took, std::size_t changes, bool succeeded);
  /// `route` is a pattern, never a path that somebody asked for.
  void request_answered(std::string_view method, std::string_view route, unsigned status,
                        Duration took);
  /// An event stream opened (1) or ended (-1).
  void streams_changed(int by);

  /// All of it in Prometheus' text format, series of a family in the order of their labels.
  [[nodiscard]] std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace hostler::metrics
