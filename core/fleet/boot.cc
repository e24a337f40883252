#include "core/fleet/boot.h"

namespace hostler::fleet {
namespace {

using model::InstanceState;
using model::Reason;

constexpr Duration kDiesYoung = std::chrono::minutes(1);

/// The cloud took the machine away, or it died by itself.
bool died(Reason reason) {
  return reason == Reason::kCloudFailed || reason == Reason::kCloudStopped ||
         reason == Reason::kGoneAlready || reason == Reason::kVanished;
}

bool did_not_come_up(Reason reason) {
  return died(reason) || reason == Reason::kBootTimeout || reason == Reason::kInitFailed ||
         reason == Reason::kDoesNotStart || reason == Reason::kCannotStart ||
         reason == Reason::kBroken;
}

bool is_alive(InstanceState state) {
  return state == InstanceState::kRequested || state == InstanceState::kBooting ||
         state == InstanceState::kUnknown || state == InstanceState::kIdle ||
         state == InstanceState::kBusy;
}

/// What it was made for has not been seen: its tool has told no card so far.
bool lacks_cards(const Instance& instance) {
  return instance.occupancy.cards().are_unread() && instance.record.first_job.us == 0;
}

/// Nobody knows when it will come up: it waits for a price, or an admin looks at it in peace.
bool waits_without_end(const Instance& instance) {
  const bool is_broken = instance.record.health == model::Health::kBroken;
  return instance.listing.is_unfulfilled_spot() || (lacks_cards(instance) && is_broken) ||
         (instance.record.state == InstanceState::kBooting && instance.record.deadline.us == 0);
}

}  // namespace

Boot boot_of(const Instance& instance, Now now) {
  const auto& record = instance.record;
  const bool was_ready = record.ready.us != 0 && !lacks_cards(instance);
  if (is_alive(record.state) && was_ready) return Boot::kReady;
  if (is_alive(record.state))
    return waits_without_end(instance) ? Boot::kUncounted : Boot::kUnderWay;
  const Duration age = now.wall - record.created;
  if (instance.notices.is_reclaimed()) return was_ready ? Boot::kReady : Boot::kUncounted;
  if (instance.listing.shortage()) return was_ready ? Boot::kReady : Boot::kUncounted;
  if (was_ready) return died(record.reason_code) && age < kDiesYoung ? Boot::kFailed : Boot::kReady;
  return did_not_come_up(record.reason_code) ? Boot::kFailed : Boot::kUncounted;
}

}  // namespace hostler::fleet
