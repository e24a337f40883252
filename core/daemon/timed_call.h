#pragma once

#include <string>

#include "core/base/time.h"
#include "core/daemon/set_drivers.h"
#include "core/metrics/metrics.h"
#include "core/model/cloud.h"

namespace hostler::daemon {

/// One driver call until its answer: keeps its driver, times the call, counts it and logs a failure
/// that is no event. Copied into the callback; ended() once, on one of the copies.
class TimedCall {
 public:
  /// `metrics` and `drivers` must outlive it.
  TimedCall(metrics::Metrics& metrics, std::string set, model::CloudOp op, SetDrivers& drivers,
            SetDrivers::Number driver);

  template <class T>
  void ended(const model::CloudResult<T>& result) const {
    end(result ? nullptr : &result.error());
  }

 private:
  void end(const model::CloudError* error) const;

  metrics::Metrics& metrics_;
  std::string set_;
  model::CloudOp op_;
  SetDrivers& drivers_;
  SetDrivers::Number driver_;
  Mono began_;
};

}  // namespace hostler::daemon
