#include "core/agent/host/journal/sync_plan.h"

namespace hostler::agent {
namespace {

constexpr std::int64_t kSyncWithinUs = 100'000;

}  // namespace

std::int64_t SyncPlan::due(Attempts& attempts) {
  while (!ends_.empty() && attempts.find(ends_.front().second) == nullptr) ends_.pop_front();
  return ends_.empty() ? INT64_MAX : ends_.front().first + kSyncWithinUs;
}

}  // namespace hostler::agent
