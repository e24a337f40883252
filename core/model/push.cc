#include "core/model/push.h"

namespace hostler::model {

const char* to_string(AgentName name) {
  switch (name) {
    case AgentName::kInstance:
      return "instance";
    case AgentName::kCloudId:
      return "cloud_id";
    case AgentName::kAddress:
      return "address";
  }
  return "?";
}

const char* to_string(AgentReport report) {
  switch (report) {
    case AgentReport::kNone:
      return "none";
    case AgentReport::kIdle:
      return "idle";
    case AgentReport::kBusy:
      return "busy";
    case AgentReport::kMissing:
      return "missing";
  }
  return "?";
}

}  // namespace hostler::model
