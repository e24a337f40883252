#include "core/dispatch/state/gangs.h"

#include <algorithm>
#include <chrono>

namespace hostler::dispatch {
namespace {

constexpr Duration kFirstPause = std::chrono::seconds(30), kLongestPause = std::chrono::hours(1);

/// It comes, is empty or is off, and will stay.
bool is_there(const scheduler::HostView& host) {
  return (host.is_on() || host.phase == scheduler::HostPhase::kStopped) && !host.will_go();
}

}  // namespace

/// Without hosts that have other work until then: when that ends, they may end too.
Gangs::Held Gangs::held_in(const std::vector<scheduler::Waiting>& waiting,
                           const std::vector<scheduler::HostView>& hosts) const {
  Held out;
  for (const auto& one : waiting)
    if (one.code == model::WaitingCode::kReserved && waiting_.is_gang(one.cls)) out[one.cls] = {};
  for (const auto& host : hosts) {
    const auto holder = host.reserved_for ? out.find(*host.reserved_for) : out.end();
    if (holder != out.end() && !host.busy) holder->second.push_back(host.id);
  }
  return out;
}

void Gangs::look(const std::vector<scheduler::HostView>& hosts, Mono now) {
  if (held_.empty()) return;
  std::vector<model::InstanceId> there;
  for (const auto& host : hosts)
    if (is_there(host)) there.push_back(host.id);
  std::ranges::sort(there);
  const Held held = held_;
  for (const auto& [cls, ids] : held) {
    const auto is_lost = [&](model::InstanceId id) {
      return !std::ranges::binary_search(there, id);
    };
    if (waiting_.queue().waits(cls) && std::ranges::any_of(ids, is_lost)) let_go(cls, now);
  }
}

bool Gangs::note_held(const std::vector<scheduler::Waiting>& waiting,
                      const std::vector<scheduler::HostView>& hosts, Mono now) {
  Held held = held_in(waiting, hosts);
  const Held before = std::exchange(held_, held);
  bool out = false;
  for (const auto& [cls, ids] : before) {
    if (held.contains(cls) || !waiting_.queue().waits(cls)) continue;
    let_go(cls, now);
    out = true;
  }
  tidy();
  return out;
}

Mono Gangs::not_before(demand::ClassId cls) const {
  const auto found = pauses_.find(cls);
  return found == pauses_.end() ? Mono{} : found->second.until;
}

void Gangs::let_go(demand::ClassId cls, Mono now) {
  held_.erase(cls);
  ++counts_.let_go;
  Pause& pause = pauses_[cls];
  Duration wait = kFirstPause;
  for (std::uint32_t n = 0; n < pause.tries && wait < kLongestPause; ++n) wait *= 2;
  pause = {now + std::min(wait, kLongestPause), pause.tries + 1};
}

void Gangs::note_broken(const model::Gang& gang) {
  if (gang.count > 0) broken_[gang.id] = gang;
}

void Gangs::tidy() {
  std::erase_if(pauses_, [&](const auto& entry) {
    const auto* known = waiting_.queue().find(entry.first);
    return known == nullptr || known->users == 0;
  });
}

}  // namespace hostler::dispatch
