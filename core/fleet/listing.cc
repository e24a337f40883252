#include "core/fleet/listing.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::fleet {

using model::CloudState;

bool is_switched_off(CloudState state) {
  return state == CloudState::kStopping || state == CloudState::kStopped ||
         state == CloudState::kSuspended;
}

void Listing::ignore_until(Mono time) { known_at_ = std::max(known_at_, time); }

void Listing::shown(const model::ListedInstance& seen, bool is_power_old, Mono now) {
  ignore_until(now);
  end_doubt();
  unfulfilled_spot_ = seen.state == CloudState::kRequested;
  has_price_ = seen.price_per_hour.has_value();
  off_ = !is_power_old && (is_switched_off(seen.state) || seen.state == CloudState::kTerminating);
  note_error(seen);
}

void Listing::note_error(const model::ListedInstance& seen) {
  // One that runs has no error any more; one that ends keeps the first that was said.
  if (seen.state_error.empty() && seen.state != CloudState::kRunning) return;
  error_ = seen.state_error;
  if (shortage_ == seen.shortage) return;
  shortage_ = seen.shortage;
  shortage_told_ = false;
}

void Listing::omitted(Mono sent) { absent_at_ = std::max(absent_at_, sent); }

void Listing::doubt(Wall now, Mono sent) {
  if (!absence_) absence_.emplace(now, sent);
}

void Listing::not_found(Mono sent, bool gone) {
  HOSTLER_ASSERT(absence_, "only an instance that a list omits is looked up");
  absence_->answered = absence_->not_found = sent;
  absence_->found_gone = gone;
}

void Listing::found(const Absence& before, Mono sent) {
  absence_ = before;
  absence_->answered = sent;
  absence_->not_found.reset();
  absence_->withheld = false;
}

bool Listing::contradict() {
  HOSTLER_ASSERT(absence_, "a connection contradicts lists without the instance");
  return !std::exchange(absence_->contradicted, true);
}

void Listing::withhold() {
  HOSTLER_ASSERT(absence_ && absence_->contradicted, "only a contradiction withholds work");
  absence_->withheld = true;
}

void Listing::connection_lost() {
  if (absence_) absence_->not_found.reset();
}

void Listing::vanished(bool counts) {
  end_doubt();
  counts_vanished_ = counts;
}

bool Listing::stop_counting() { return std::exchange(counts_vanished_, false); }

bool Listing::tell_shortage() { return shortage_ && !std::exchange(shortage_told_, true); }

bool Listing::tell_failure() { return !std::exchange(failure_told_, true); }

}  // namespace hostler::fleet
