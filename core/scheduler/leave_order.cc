#include "core/scheduler/leave_order.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace hostler::scheduler {
namespace {

/// Unknown is after all that is known.
double load_of(const HostView& host) {
  const bool is_known = host.rank && !std::isnan(*host.rank);
  return is_known ? *host.rank : std::numeric_limits<double>::infinity();
}

}  // namespace

LeaveOrder::LeaveOrder(const std::vector<HostView>& hosts, const std::vector<Offering>& offerings,
                       std::span<const std::uint32_t> alive)
    : hosts_(hosts), offerings_(offerings) {
  for (const std::uint32_t h : alive) ++left_[zone(h)];
}

std::string_view LeaveOrder::zone(std::uint32_t host) const {
  const std::uint32_t offering = hosts_[host].offering;
  return offering < offerings_.size() ? std::string_view(offerings_[offering].zone) : "";
}

void LeaveOrder::arrange(std::span<std::uint32_t> equal) {
  const auto load = [&](std::uint32_t h) { return load_of(hosts_[h]); };
  std::ranges::stable_sort(equal, {}, load);
  for (std::size_t from = 0, to = 0; from < equal.size(); from = to) {
    while (to < equal.size() && load(equal[to]) == load(equal[from])) ++to;
    even_out(equal.subspan(from, to - from));
  }
}

void LeaveOrder::even_out(std::span<std::uint32_t> equal) {
  std::map<std::string_view, std::deque<std::size_t>> by_zone;  // Places in `before`.
  const std::vector<std::uint32_t> before(equal.begin(), equal.end());
  for (std::size_t at = 0; at < before.size(); ++at) by_zone[zone(before[at])].push_back(at);
  for (std::uint32_t& next : equal) {
    auto best = by_zone.begin();
    for (auto one = by_zone.begin(); one != by_zone.end(); ++one) {
      const std::int64_t most = left_[best->first], its = left_[one->first];
      if (its > most || (its == most && one->second.front() < best->second.front())) best = one;
    }
    next = before[best->second.front()];
    --left_[best->first];
    best->second.pop_front();
    if (best->second.empty()) by_zone.erase(best);
  }
}

}  // namespace hostler::scheduler
