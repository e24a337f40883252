#include "core/fleet/refusals.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::fleet {
namespace {

constexpr std::uint32_t kRefusalsMax = 5;   ///< In a row, with pauses.
constexpr std::size_t kRefusedJobsMax = 3;  ///< A host that fails to start so many is broken.

}  // namespace

bool Refusals::counts_anew(const RefusedStart& start, std::uint64_t last_sent) {
  if (start.sequence <= counted_until_) return false;
  counted_until_ = last_sent;
  return true;
}

void Refusals::refused(const RefusedStart& start, bool anew) {
  last_ = std::max(last_, start.sequence);
  if (anew) ++in_a_row_;
  // Starts that count as one count for one job.
  if (start.tried && jobs_.size() < in_a_row_ &&
      std::ranges::find(jobs_, start.work) == jobs_.end())
    jobs_.push_back(start.work);
  HOSTLER_ASSERT(jobs_.size() <= in_a_row_, "each refusal that counts is of one job");
}

void Refusals::held(std::uint64_t sequence) {
  if (sequence <= last_) return;
  in_a_row_ = 0;
  jobs_.clear();
}

bool Refusals::has_room_again() { return std::exchange(full_in_a_row_, 0) > 0; }

bool Refusals::end_rest() { return std::exchange(resting_, false); }

bool Refusals::are_too_many() const {
  return in_a_row_ > kRefusalsMax || jobs_.size() >= kRefusedJobsMax;
}

}  // namespace hostler::fleet
