#include "core/daemon/timed_call.h"

#include <utility>

#include "core/base/clock.h"
#include "core/log/log.h"

namespace hostler::daemon {
namespace {

/// Each such failure is an event of severity warning, which the event log writes.
bool has_event_of_failure(model::CloudOp op) {
  return op == model::CloudOp::kOpen || op == model::CloudOp::kDestroy ||
         op == model::CloudOp::kSetTags;
}

}  // namespace

TimedCall::TimedCall(metrics::Metrics& metrics, CredentialWatches& credentials, std::string set,
                     model::CloudOp op, SetDrivers& drivers, SetDrivers::Number driver)
    : metrics_(metrics),
      credentials_(credentials),
      set_(std::move(set)),
      op_(op),
      drivers_(drivers),
      driver_(driver),
      began_(read_clocks().mono) {
  drivers_.begin_use(driver_);
}

void TimedCall::end(model::CloudError* error) const {
  if (error != nullptr && error->cls == model::CloudErrorClass::kAuth &&
      !drivers_.is_in_use(driver_)) {
    error->cls = model::CloudErrorClass::kTransient;
    error->message += " (the credentials of this call have been replaced since it was made)";
  }
  std::optional<model::CloudErrorClass> cls;
  if (error != nullptr) cls = error->cls;
  metrics_.driver_call(set_, op_, cls, read_clocks().mono - began_);
  if (error != nullptr && error->cls != model::CloudErrorClass::kCancelled) {
    const std::string request =
        error->request_id.empty() ? "" : " [request " + error->request_id + "]";
    log::write(has_event_of_failure(op_) ? log::Level::kDebug : log::Level::kWarn, "cloud " + set_,
               std::string(model::to_string(op_)) + ": " + model::to_string(error->cls) + ": " +
                   error->message + request);
  }
  if (error != nullptr) credentials_.failed(set_, *error);
  drivers_.end_use(driver_);
}

}  // namespace hostler::daemon
