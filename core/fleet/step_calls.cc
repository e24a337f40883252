#include <algorithm>

#include "core/fleet/transition.h"

/// Answers to the calls that create and destroy an instance.
namespace hostler::fleet {

using model::Event;
using model::InstanceState;

Duration create_pause(const Instance& instance) {
  return backoff(instance.creating.tries(), std::chrono::seconds(1), std::chrono::minutes(1));
}

namespace {

/// The outcome of the create is unknown: a list, or the deadline, will decide it.
void await_sighting(Instance& instance, Outcome& out, Now now) {
  instance.creating.outcome_lost();
  instance.listing.ignore_until(now.mono);
  if (instance.deadline == kNever) set_deadline(instance, now.mono + std::chrono::minutes(10), now);
  out.changed = true;
  out.effects.push_back(Effect::kList);
}

}  // namespace

bool awaits_create(const Instance& instance) {
  return instance.record.state == InstanceState::kRequested &&
         instance.record.provider_id.empty() && !instance.creating.is_outcome_unknown();
}

Outcome create_answered(Instance& instance, Now now) {
  Outcome out;
  if (instance.record.state == InstanceState::kBooting) instance.creating.outcome_known();
  if (instance.record.state != InstanceState::kRequested) return out;
  if (instance.record.provider_id.empty()) {
    instance.creating.answered();
    await_sighting(instance, out, now);
  } else {
    out.effects.push_back(Effect::kList);  // An unfulfilled spot request.
  }
  return out;
}

Outcome create_failed(Instance& instance, const model::CloudError& error, Now now) {
  Outcome out;
  const bool never_seen = instance.record.provider_id.empty();
  const bool never_made =
      never_seen && !error.outcome_unknown && !instance.creating.is_outcome_unknown();
  if (instance.record.state == InstanceState::kTerminating && never_made) {
    // It was terminated while its create was under way, and the cloud refused the create.
    const std::string reason = instance.record.reason;
    never_was(instance, out, Event::kGone, instance.record.reason_code, reason, now);
    return out;
  }
  const bool began = instance.record.state == InstanceState::kBooting;
  if (instance.record.state != InstanceState::kRequested && !began) return out;
  const bool retryable = error.cls == model::CloudErrorClass::kTransient ||
                         error.cls == model::CloudErrorClass::kTimeout ||
                         error.cls == model::CloudErrorClass::kCancelled ||
                         error.cls == model::CloudErrorClass::kRateLimit;
  instance.creating.answered();
  instance.record.last_text = error.message;
  if (began) {
    if (!error.outcome_unknown && !retryable) return out;  // It boots, or its boot timeout ends it.
    instance.creating.outcome_lost();
    instance.creating.wait_until(now.mono + create_pause(instance));
    out.effects.push_back(Effect::kList);
    return out;
  }
  if (!never_seen) {
    // An unfulfilled spot request exists; the error is of a repeated create.
    out.effects.push_back(Effect::kList);
    return out;
  }
  if (error.outcome_unknown) {
    await_sighting(instance, out, now);
    out.event = Event::kCreateUnknown;
    out.reason_code = model::to_string(error.cls);
    out.reason = error.message;
    return out;
  }
  if (instance.creating.is_outcome_unknown()) {
    // An earlier try may have created it: a list, or the deadline, will decide it.
    out.effects.push_back(Effect::kList);
    return out;
  }
  if (retryable && instance.creating.may_try_again()) {
    Duration wait = create_pause(instance);
    if (error.retry_after) wait = std::max(wait, *error.retry_after);
    set_deadline(instance, now.mono + wait, now);
    instance.creating.refused();
    out.changed = true;
    return out;
  }
  never_was(instance, out, Event::kCreateRefused, model::reason_of(error.cls), error.message, now);
  return out;
}

Outcome destroy_answered(Instance& instance, const model::CloudError* error,
                         const model::PoolPolicy& pool, Now now) {
  Outcome out;
  if (instance.record.state != InstanceState::kTerminating) return out;
  ++instance.record.destroy_tries;
  out.changed = true;
  Duration wait = backoff(instance.record.destroy_tries, pool.shutdown_timeout,
                          std::max<Duration>(pool.shutdown_timeout, std::chrono::minutes(5)));
  if (error != nullptr) {
    if (error->cls == model::CloudErrorClass::kNotFound || is_final(*error))
      instance.ending.set_futile();
    instance.record.last_text = error->message;
    if (error->retry_after) wait = std::max(wait, *error->retry_after);
    out.event = Event::kDestroyRefused;
    out.reason_code = model::to_string(error->cls);
    out.reason = error->message;
  } else {
    instance.ending.accepted(now.mono);
  }
  set_deadline(instance, now.mono + wait, now);
  out.effects.push_back(Effect::kList);
  return out;
}

}  // namespace hostler::fleet
