#pragma once

#include <string>

#include "core/base/time.h"
#include "core/daemon/credential_watch.h"
#include "core/daemon/set_drivers.h"
#include "core/metrics/metrics.h"
#include "core/model/cloud.h"

namespace hostler::daemon {

/// One driver call until its answer: keeps its driver, times the call, counts it and logs a failure
/// that is no event. Copied into the callback; ended() once, on one of the copies.
class TimedCall {
 public:
  /// `metrics`, `drivers` and `credentials` must outlive it. The last is told if the cloud refuses
  /// the credentials.
  TimedCall(metrics::Metrics& metrics, CredentialWatches& credentials, std::string set,
            model::CloudOp op, SetDrivers& drivers, SetDrivers::Number driver);

  /// An answer that the credentials are refused counts as transient if other ones have come into
  /// use since the call: those may be good.
  template <class T>
  void ended(model::CloudResult<T>& result) const {
    end(result ? nullptr : &result.error());
  }

 private:
  void end(model::CloudError* error) const;

  metrics::Metrics& metrics_;
  CredentialWatches& credentials_;
  std::string set_;
  model::CloudOp op_;
  SetDrivers& drivers_;
  SetDrivers::Number driver_;
  Mono began_;
};

}  // namespace hostler::daemon
