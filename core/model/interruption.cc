#include "core/model/interruption.h"

#include "core/base/units.h"

namespace hostler::model {

const char* to_string(InterruptionAction action) {
  switch (action) {
    case InterruptionAction::kNotSaid:
      return "not_said";
    case InterruptionAction::kTerminate:
      return "terminate";
    case InterruptionAction::kStop:
      return "stop";
    case InterruptionAction::kSuspend:
      return "suspend";
    case InterruptionAction::kRestart:
      return "restart";
    case InterruptionAction::kWithdrawn:
      return "withdrawn";
  }
  return "?";
}

const char* to_string(NoticeSource source) {
  switch (source) {
    case NoticeSource::kDriver:
      return "driver";
    case NoticeSource::kList:
      return "list";
    case NoticeSource::kHost:
      return "host";
  }
  return "?";
}

std::string to_string(const Notice& notice) {
  const bool is_said = notice.action != InterruptionAction::kNotSaid;
  std::string out = "its cloud will ";
  out += is_said ? to_string(notice.action) : "take";
  out += notice.at.us != 0 ? (is_said ? " it at " : " it back at ") + format_wall(notice.at)
                           : std::string(is_said ? " it soon" : " it back soon");
  if (!notice.text.empty()) out += " (" + notice.text + ")";
  return out;
}

}  // namespace hostler::model
