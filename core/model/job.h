#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/model/gpus.h"
#include "core/model/ids.h"
#include "core/model/offering.h"
#include "core/model/resources.h"

namespace hostler::model {

/// The states of work of every kind. Leases have words of their own for them: lease_state().
enum class WorkState : std::uint8_t {
  kQueued,
  kStarting,  ///< Sent to a host, which has not reported it running yet.
  kRunning,
  kCollecting,  ///< The attempt ended; its output and files are being fetched.
  kSucceeded,
  kFailed,
  kCancelled,
  kHeld,  ///< It would wait, but does not start until an admin releases it: WorkRecord::restored.
};
const char* to_string(WorkState state);
std::optional<WorkState> parse_work_state(std::string_view text);
inline bool is_terminal(WorkState state) {
  return state >= WorkState::kSucceeded && state <= WorkState::kCancelled;
}
/// All that are not terminal, in the order in which they are shown.
inline constexpr std::array kLiveStates{WorkState::kQueued, WorkState::kStarting,
                                        WorkState::kRunning, WorkState::kCollecting,
                                        WorkState::kHeld};

/// Why work, or the last attempt of a job, ended. kNone before that.
enum class EndReason : std::uint8_t {
  kNone,
  kExit,
  kSignal,
  kTimeLimit,
  kHostLost,
  kStartFailed,
  kInputFailed,
  kOutputLost,
  kSupervisionLost,
  kCancelled,
  kStartFailures,
  // Leases only.
  kReturned,
  kTerm,
  kWaitMax,
  kInterrupted,
};
/// "exit", "signal", "time_limit", ...; "" for kNone.
const char* to_string(EndReason reason);

/// The default: a job fails when so many different hosts could not start it.
inline constexpr std::uint32_t kStartFailuresMax = 10;

/// The offerings that work may run on. An empty field allows all.
struct Constraints {
  std::vector<std::string> types;  ///< Menu names.
  std::optional<Market> market;
  std::string zone;
  std::vector<std::string> pools;  ///< For leases: the pools that lend such hosts.
  GpuWish gpu = {};                ///< Of each card; only with Resources::gpus above 0.
  friend auto operator<=>(const Constraints&, const Constraints&) = default;
};

struct Input {
  std::string path;    ///< Relative, inside the job's working folder; no "..".
  std::string sha256;  ///< 64 hex digits of the blob.
  bool executable = false;
  friend bool operator==(const Input&, const Input&) = default;
};

/// The members of a request that all kinds of work share.
struct WorkSpec {
  std::string name;
  Resources needs{.vcpus = 1, .gpus = 0, .ram = std::int64_t{1} << 30, .scratch = 0};
  std::int32_t priority = 0;  ///< Higher goes first.
  Constraints constraints;
  std::string client_key;
  friend bool operator==(const WorkSpec&, const WorkSpec&) = default;
};

/// A job as it was submitted, likewise. Exactly one of command and script is set.
struct JobSpec : WorkSpec {
  std::vector<std::string> command;
  std::string script;
  Duration time_limit{};  ///< 0: none. Enforced by the host.
  std::vector<std::pair<std::string, std::string>> env;
  std::string stdin_text;
  std::vector<Input> inputs;
  std::vector<std::string> outputs;  ///< Patterns relative to the working folder.
  bool restartable = false;
  std::uint32_t attempts_max = 3;
  std::uint32_t start_failures_max = kStartFailuresMax;
  /// sh; run beside the job when its host will be interrupted. Empty: that of the pool.
  std::string interruption_command;
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

/// The end of an attempt, as the agent of its host reports it. If the host was lost: kHostLost and
/// the times only.
struct AttemptEnd {
  EndReason reason = EndReason::kExit;               ///< One that a host may tell, or kHostLost.
  std::int32_t exit_code = 0;                        ///< kExit
  std::int32_t signal = 0;                           ///< kSignal, kTimeLimit
  std::string text;                                  ///< E.g. "exec /x: No such file or directory".
  std::uint64_t stdout_bytes = 0, stderr_bytes = 0;  ///< Written by the job in all.
  std::string stdout_inline, stderr_inline;  ///< Whole streams when both together are <= 4 KiB.
  bool output_is_inline = true;              ///< False: the streams come as chunks.
  bool has_output_files = false;
  std::int64_t cpu_us = 0, ram_peak = 0;
  bool limits_enforced = false;  ///< By a cgroup; else "limits: none".
  Wall started, ended;           ///< By the host's clock.
  friend bool operator==(const AttemptEnd&, const AttemptEnd&) = default;
};

/// The exit status a shell would show: 0..255, 128+n on a signal, 124 on the time limit; nullopt
/// when the job has no status of its own (`submit --wait` then exits with 125).
std::optional<int> exit_status(EndReason reason, std::int32_t exit_code, std::int32_t signal);

}  // namespace hostler::model
