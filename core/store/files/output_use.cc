#include "core/store/files/output_use.h"

#include <algorithm>

namespace hostler::store {
namespace {

/// Adds to `sum`, but takes at most what it has; returns what was added.
std::int64_t change(std::uint64_t& sum, std::int64_t bytes) {
  if (bytes < 0)
    bytes = -static_cast<std::int64_t>(std::min(sum, static_cast<std::uint64_t>(-bytes)));
  sum = static_cast<std::uint64_t>(static_cast<std::int64_t>(sum) + bytes);
  return bytes;
}

}  // namespace

void OutputUse::add(model::WorkId work, std::int64_t bytes) {
  const MutexLock lock(mutex_);
  const auto known = known_.find(work);
  std::uint64_t& its = known != known_.end() ? known->second.bytes : unknown_[work];
  bytes = change(its, bytes);
  total_ += static_cast<std::uint64_t>(bytes);
  if (known != known_.end()) {
    change(*known->second.sum, bytes);
    if (its == 0) known_.erase(known);
  } else if (its == 0) {
    unknown_.erase(work);
  }
}

void OutputUse::finish_start() { complete_ = true; }

std::vector<model::WorkId> OutputUse::unknown() const {
  const MutexLock lock(mutex_);
  std::vector<model::WorkId> out;
  for (const auto& [work, bytes] : unknown_) out.push_back(work);
  return out;
}

void OutputUse::know(const std::vector<model::WorkId>& asked,
                     const std::map<model::WorkId, std::string>& principals) {
  const MutexLock lock(mutex_);
  for (const model::WorkId work : asked) {
    const auto at = unknown_.find(work);
    if (at == unknown_.end()) continue;
    const auto whose = principals.find(work);
    std::uint64_t& sum = by_principal_[whose == principals.end() ? std::string() : whose->second];
    sum += at->second;
    known_[work] = {at->second, &sum};
    unknown_.erase(at);
  }
}

std::uint64_t OutputUse::of(const std::string& principal) const {
  const MutexLock lock(mutex_);
  const auto found = by_principal_.find(principal);
  return found == by_principal_.end() ? 0 : found->second;
}

}  // namespace hostler::store
