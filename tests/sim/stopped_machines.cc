#include "tests/sim/stopped_machines.h"

#include <algorithm>
#include <utility>

namespace hostler::sim {
namespace {

using model::InstanceState;

/// Until then the daemon may think that the host is connected.
constexpr Duration kMissed = 25s;
constexpr int kListsWanted = 3;

}  // namespace

void StoppedMachines::listed(const dispatch::SetListed& list, const dispatch::Queries& queries) {
  std::map<std::string, Shown> now;
  for (const auto& seen : *list.result) {
    if (seen->state != model::CloudState::kStopped) continue;
    const auto before = shown_.find(seen->id);
    Shown& shown = now[seen->id] =
        before == shown_.end() ? Shown{.first = list.sent, .last = list.sent} : before->second;
    if (list.sent < shown.first + kMissed || list.sent < shown.last + 2 * kConsistency) continue;
    shown.last = list.sent;
    ++shown.count;
  }
  shown_ = std::move(now);
  for (const auto& host : queries.instances()) {
    const auto& record = host.record;
    const auto shown = shown_.find(record.provider_id);
    const bool is_ours = record.state == InstanceState::kUnknown ||
                         record.state == InstanceState::kIdle ||
                         record.state == InstanceState::kBusy;
    if (shown == shown_.end() || shown->second.count < kListsWanted || !is_ours) continue;
    if ((!host.attempts.empty() || host.lease) && !record.restored)
      complain_(record.id.text() + " keeps its work, and lists show it as stopped again and again");
  }
}

}  // namespace hostler::sim
