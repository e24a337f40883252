#include "core/model/job.h"

#include <array>

#include "core/model/reason.h"

namespace hostler::model {
namespace {

constexpr std::array kStates{"queued",    "starting", "running",   "collecting",
                             "succeeded", "failed",   "cancelled", "held"};

}  // namespace

const char* to_string(WorkState state) { return kStates[static_cast<std::size_t>(state)]; }

std::optional<WorkState> parse_work_state(std::string_view text) {
  for (std::size_t i = 0; i < kStates.size(); ++i)
    if (text == kStates[i]) return static_cast<WorkState>(i);
  return std::nullopt;
}

const char* to_string(EndReason reason) { return info(reason).code; }

std::optional<int> exit_status(EndReason reason, std::int32_t exit_code, std::int32_t signal) {
  switch (reason) {
    case EndReason::kExit:
      return exit_code & 0xff;
    case EndReason::kOutputLost:  // The process has exited, or a signal has ended it.
      return signal != 0 ? 128 + signal : exit_code & 0xff;
    case EndReason::kSignal:
      return 128 + signal;
    case EndReason::kTimeLimit:
      return 124;
    default:
      return std::nullopt;
  }
}

}  // namespace hostler::model
