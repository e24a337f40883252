#include "core/hosts/output_room.h"

#include <algorithm>

namespace hostler::hosts {
namespace {

/// Left to jobs that have ended, but not more than half of the disk.
constexpr std::uint64_t kLeftToEnded = std::uint64_t{256} << 20U;

}  // namespace

bool OutputRoom::admit(model::AttemptId attempt, std::uint64_t rest) {
  const auto found = promised_.find(attempt);
  const std::uint64_t before = found == promised_.end() ? 0 : found->second;
  const std::uint64_t others = sum_ - before;
  const std::uint64_t free = look_().free;
  if (rest > before && rest > free - std::min(free, others)) {
    release(attempt);
    return false;
  }
  promised_[attempt] = rest;
  sum_ = others + rest;
  return true;
}

void OutputRoom::release(model::AttemptId attempt) {
  const auto found = promised_.find(attempt);
  if (found == promised_.end()) return;
  sum_ -= found->second;
  promised_.erase(found);
}

bool OutputRoom::has_room_to_stream() const {
  const DiskRoom room = look_();
  const std::uint64_t left = room.free - std::min(room.free, sum_);
  return left > std::min(kLeftToEnded, room.total / 2);
}

}  // namespace hostler::hosts
