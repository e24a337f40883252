#include "core/daemon/timed_call.h"

#include <utility>

#include "core/daemon/clock.h"
#include "core/log/log.h"

namespace hostler::daemon {
namespace {

/// Each such failure is an event of severity warning, which the event log writes.
bool has_event_of_failure(model::CloudOp op) {
  return op == model::CloudOp::kOpen || op == model::CloudOp::kDestroy ||
         op == model::CloudOp::kSetTags;
}

/// A driver that lacks an extension which every set is asked for, unless it is switched off.
bool is_no_failure(model::CloudOp op, const model::CloudError& error) {
  return op == model::CloudOp::kLeftovers && error.cls == model::CloudErrorClass::kUnsupported;
}

}  // namespace

TimedCall::TimedCall(metrics::Metrics& metrics, std::string set, model::CloudOp op,
                     SetDrivers& drivers, SetDrivers::Number driver)
    : metrics_(metrics),
      set_(std::move(set)),
      op_(op),
      drivers_(drivers),
      driver_(driver),
      began_(read_clocks().mono) {
  drivers_.begin_use(driver_);
}

void TimedCall::end(const model::CloudError* error) const {
  std::optional<model::CloudErrorClass> cls;
  if (error != nullptr) cls = error->cls;
  metrics_.driver_call(set_, op_, cls, read_clocks().mono - began_);
  if (error != nullptr && error->cls != model::CloudErrorClass::kCancelled &&
      !is_no_failure(op_, *error))
    log::write(has_event_of_failure(op_) ? log::Level::kDebug : log::Level::kWarn, "cloud " + set_,
               std::string(model::to_string(op_)) + ": " + model::to_string(error->cls) + ": " +
                   error->message);
  drivers_.end_use(driver_);
}

}  // namespace hostler::daemon
