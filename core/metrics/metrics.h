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
enum class Milestone : std::uint8_t { kSsh, kVerified, kReady, kFirstJob };

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

struct InstanceCount {
  std::string set, type;  ///< `type`: the menu's name.
  model::InstanceState state{};
  std::size_t count = 0;
};

struct PriceSum {
  std::string set;
  model::Micros per_hour;
};

struct GateCount {
  std::string set;
  model::CloudErrorClass cls{};  ///< kRateLimit, kQuota or kCapacity.
  std::size_t count = 0;
};

/// The families that docs/metrics.md lists, registered by the constructor.
///
/// Threads: every method from any thread. Blocking: none waits for more than a short mutex; no
/// I/O. Errors: none. Labels are names from the config and the enums of core/model only, so
/// that what hosts and submitters send cannot make new time series.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // What is, now. Each call replaces the last one's counts as a whole: what is not in it is gone.
  void set_instances(const std::vector<InstanceCount>& counts);
  void set_prices(const std::vector<PriceSum>& sums);
  void set_gates(const std::vector<GateCount>& counts);

  /// Of a state that is no end: what has ended is not counted here.
  void set_jobs(model::JobState state, std::size_t count);
  /// Of the job that waits longest; 0 when none waits.
  void set_queue_age(Duration oldest);

  // What happened.
  void boot_ended(std::string_view set, std::string_view type, BootOutcome outcome);
  void host_reached(std::string_view set, Milestone milestone, Duration since_request);
  /// `error` is the class of a call that failed, nullopt of one that succeeded.
  void driver_call(std::string_view set, model::CloudOp op,
                   std::optional<model::CloudErrorClass> error, Duration took);
  /// `method` is the one that proved the host; nullopt where none did.
  void verification(std::optional<model::VerifyMethod> method, VerifyOutcome outcome);
  /// `kind` is a literal of the loop's own: "host", "cloud", "request", "timer", ...
  void loop_event(std::string_view kind, Duration took);
  void store_commit(Duration took, bool succeeded);

  /// All of it in Prometheus' text format, series of a family in the order of their labels.
  [[nodiscard]] std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace hostler::metrics
