#include "core/model/job.h"

#include <array>

namespace hostler::model {
namespace {

constexpr std::array kStates{"queued",    "starting", "running",  "collecting",
                             "succeeded", "failed",   "cancelled"};
constexpr std::array kReasons{"",
                              "exit",
                              "signal",
                              "time_limit",
                              "host_lost",
                              "start_failed",
                              "input_failed",
                              "output_lost",
                              "supervision_lost",
                              "cancelled"};

}  // namespace

const char* to_string(JobState state) { return kStates[static_cast<std::size_t>(state)]; }

std::optional<JobState> parse_job_state(std::string_view text) {
  for (std::size_t i = 0; i < kStates.size(); ++i)
    if (text == kStates[i]) return static_cast<JobState>(i);
  return std::nullopt;
}

const char* to_string(JobReason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

std::optional<int> exit_status(JobReason reason, std::int32_t exit_code, std::int32_t signal) {
  switch (reason) {
    case JobReason::kExit:
    case JobReason::kOutputLost:
      return exit_code & 0xff;
    case JobReason::kSignal:
      return 128 + signal;
    case JobReason::kTimeLimit:
      return 124;
    default:
      return std::nullopt;
  }
}

}  // namespace hostler::model
