#include "dials.h"

#include <chrono>

namespace hostler::local {

using driver::Error;

void DialBoard::on_created() {
  const std::lock_guard lock(mutex_);
  if (dials_.create_reply_lost <= 0) return;
  --dials_.create_reply_lost;
  throw Error(HOSTLER_E_TRANSIENT, "the answer was lost (test dial create_reply_lost)")
      .outcome_unknown();
}

void DialBoard::fail_if_due(std::vector<Dials::Failure>& failures, const std::string& type) {
  const std::lock_guard lock(mutex_);
  for (Dials::Failure& failure : failures) {
    if (failure.count <= 0 || (!failure.type.empty() && failure.type != type)) continue;
    --failure.count;
    Error error(failure.status, failure.message);
    // A scope without a text means that of the request.
    error.about(failure.scope);
    if (failure.retry_after_ms >= 0)
      error.retry_after(std::chrono::milliseconds(failure.retry_after_ms));
    if (failure.outcome_unknown) error.outcome_unknown();
    throw error;
  }
}

}  // namespace hostler::local
