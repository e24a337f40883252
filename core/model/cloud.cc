#include "core/model/cloud.h"

namespace hostler::model {

const char* to_string(CloudErrorClass cls) {
  switch (cls) {
    case CloudErrorClass::kInvalid:
      return "invalid";
    case CloudErrorClass::kUnsupported:
      return "unsupported";
    case CloudErrorClass::kNotFound:
      return "not_found";
    case CloudErrorClass::kConflict:
      return "conflict";
    case CloudErrorClass::kAuth:
      return "auth";
    case CloudErrorClass::kRateLimit:
      return "rate_limit";
    case CloudErrorClass::kQuota:
      return "quota";
    case CloudErrorClass::kCapacity:
      return "capacity";
    case CloudErrorClass::kTransient:
      return "transient";
    case CloudErrorClass::kTimeout:
      return "timeout";
    case CloudErrorClass::kCancelled:
      return "cancelled";
    case CloudErrorClass::kKeyMismatch:
      return "key_mismatch";
    case CloudErrorClass::kInternal:
      return "internal";
    case CloudErrorClass::kMisbehaving:
      return "misbehaving";
  }
  return "?";
}

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
