#pragma once

#include "core/metrics/metrics.h"

/// Private to core/metrics: the values of labels.
namespace hostler::metrics {

inline const char* to_string(Milestone milestone) {
  switch (milestone) {
    case Milestone::kVerified:
      return "verified";
    case Milestone::kReady:
      return "ready";
    case Milestone::kFirstJob:
      return "first_job";
  }
  return "?";
}

inline const char* to_string(BootOutcome outcome) {
  switch (outcome) {
    case BootOutcome::kReady:
      return "ready";
    case BootOutcome::kRefused:
      return "refused";
    case BootOutcome::kFailed:
      return "failed";
    case BootOutcome::kTimeout:
      return "timeout";
    case BootOutcome::kUnwanted:
      return "unwanted";
  }
  return "?";
}

inline const char* to_string(VerifyOutcome outcome) {
  switch (outcome) {
    case VerifyOutcome::kProved:
      return "proved";
    case VerifyOutcome::kNotYet:
      return "not_yet";
    case VerifyOutcome::kKeyAlarm:
      return "key_alarm";
  }
  return "?";
}

/// In the order of LoopWork.
inline constexpr const char* kLoopWork[] = {"cloud",  "host", "request", "plan",
                                            "upkeep", "look", "tick"};

}  // namespace hostler::metrics
