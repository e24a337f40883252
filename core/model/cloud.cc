#include "core/model/cloud.h"

#include <utility>

#include "core/model/policy.h"
#include "core/model/reason.h"

namespace hostler::model {

ListedInstances share(std::vector<ListedInstance> all) {
  ListedInstances out;
  out.reserve(all.size());
  for (ListedInstance& one : all)
    out.push_back(std::make_shared<const ListedInstance>(std::move(one)));
  return out;
}

const char* to_string(CloudErrorClass cls) { return to_string(reason_of(cls)); }

const char* to_string(CloudOp op) {
  switch (op) {
    case CloudOp::kOpen:
      return "open";
    case CloudOp::kCreate:
      return "create";
    case CloudOp::kList:
      return "list";
    case CloudOp::kDestroy:
      return "destroy";
    case CloudOp::kSetTags:
      return "set_tags";
    case CloudOp::kStart:
      return "start";
    case CloudOp::kStop:
      return "stop";
    case CloudOp::kOther:
      return "other";
    case CloudOp::kQuotaGroup:
      return "quota_group";
    case CloudOp::kConsole:
      return "console";
    case CloudOp::kImages:
      return "images";
    case CloudOp::kLeftovers:
      return "leftovers";
    case CloudOp::kDestroyLeftover:
      return "destroy_leftover";
    case CloudOp::kOfferings:
      return "offerings";
    case CloudOp::kWatch:
      return "watch";
  }
  return "?";
}

std::string to_string(const DriverCrash& crash) {
  return "driver " + crash.driver.name +
         (crash.driver.version.empty() ? "" : " " + crash.driver.version) + " " + crash.ending +
         " in " + crash.call + (crash.output.empty() ? "" : "; it wrote: " + crash.output);
}

const char* to_string(Readiness kind) {
  switch (kind) {
    case Readiness::kAgent:
      return "agent";
    case Readiness::kSsh:
      return "ssh";
    case Readiness::kCloud:
      return "cloud";
    case Readiness::kReported:
      return "reported";
  }
  return "?";
}

const char* to_string(LeftoverRule rule) {
  switch (rule) {
    case LeftoverRule::kOff:
      return "off";
    case LeftoverRule::kReport:
      return "report";
    case LeftoverRule::kDestroy:
      return "destroy";
  }
  return "?";
}

const char* to_string(CloudState state) {
  switch (state) {
    case CloudState::kUnknown:
      return "unknown";
    case CloudState::kRequested:
      return "requested";
    case CloudState::kPending:
      return "pending";
    case CloudState::kRunning:
      return "running";
    case CloudState::kStopping:
      return "stopping";
    case CloudState::kStopped:
      return "stopped";
    case CloudState::kSuspended:
      return "suspended";
    case CloudState::kTerminating:
      return "terminating";
    case CloudState::kGone:
      return "gone";
    case CloudState::kFailed:
      return "failed";
  }
  return "?";
}

}  // namespace hostler::model
