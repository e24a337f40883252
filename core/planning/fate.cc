#include "core/planning/fate.h"

#include <algorithm>
#include <unordered_map>

namespace hostler::planning {
namespace {

class Fates {
 public:
  explicit Fates(const scheduler::Snapshot& snapshot) {
    for (const auto& view : snapshot.classes) left_[view.id] += view.count;
    for (const auto& host : snapshot.hosts) offerings_[host.id] = host.offering;
  }

  /// Items on a host that there is.
  void add(demand::ClassId cls, Outcome outcome, std::uint64_t count, model::InstanceId host) {
    const auto found = offerings_.find(host);
    add(cls, {.outcome = outcome,
              .count = count,
              .host = host,
              .offering = found == offerings_.end() ? UINT32_MAX : found->second});
  }
  void add(demand::ClassId cls, Fate fate) {
    const auto left = left_.find(cls);
    if (left == left_.end()) return;
    fate.count = std::min(fate.count, left->second);
    left->second -= fate.count;
    auto& its = all_[cls];
    const bool same = !its.empty() && its.back().outcome == fate.outcome &&
                      its.back().host == fate.host && its.back().offering == fate.offering;
    if (same)
      its.back().count += fate.count;
    else if (fate.count > 0)
      its.push_back(fate);
  }
  std::map<demand::ClassId, std::vector<Fate>> take() {
    for (const auto& [cls, left] : left_)
      if (const std::uint64_t waits = left; waits > 0) all_[cls].push_back({.count = waits});
    return std::move(all_);
  }

 private:
  std::map<demand::ClassId, std::uint64_t> left_;
  std::map<demand::ClassId, std::vector<Fate>> all_;
  std::unordered_map<model::InstanceId, std::uint32_t> offerings_;
};

}  // namespace

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHostReady:
      return "host_ready";
    case Outcome::kHostComing:
      return "host_coming";
    case Outcome::kHostWoken:
      return "host_woken";
    case Outcome::kHostCreated:
      return "host_created";
    case Outcome::kWaits:
      return "waits";
  }
  return "?";
}

std::map<demand::ClassId, std::vector<Fate>> fates_of(const scheduler::Snapshot& snapshot,
                                                      const scheduler::Plan& plan) {
  Fates out(snapshot);
  for (const auto& one : plan.places) out.add(one.cls, Outcome::kHostReady, one.count, one.host);
  for (const auto& one : plan.covered) out.add(one.cls, Outcome::kHostComing, one.count, one.host);
  for (const auto& wake : plan.wakes)
    for (const auto& load : wake.load)
      out.add(load.cls, Outcome::kHostWoken, load.count, wake.host);
  for (const auto& create : plan.creates)
    for (const auto& load : create.load)
      out.add(load.cls,
              {.outcome = Outcome::kHostCreated, .count = load.count, .offering = create.offering});
  return out.take();
}

}  // namespace hostler::planning
