#include "core/dispatch/state/gangs.h"

#include <algorithm>
#include <chrono>

#include "core/base/units.h"

namespace hostler::dispatch {
namespace {

constexpr Duration kFirstPause = std::chrono::seconds(30), kLongestPause = std::chrono::hours(1);

/// The host comes, is on or is switched off, and will stay.
bool is_there(const scheduler::HostView& host) {
  return (host.is_on() || host.phase == scheduler::HostPhase::kStopped) && !host.will_go();
}

}  // namespace

/// Leaves out hosts that still have other work: they may end when that ends.
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

void Gangs::look(const std::vector<scheduler::HostView>& hosts, Now now) {
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
    const auto lost = std::ranges::find_if(ids, is_lost);
    if (lost == ids.end() || !waiting_.queue().waits(cls)) continue;
    const std::string host = lost->text();
    let_go(cls, host + ", one of its hosts, is lost or has to go (hostler why " + host + ")", now);
  }
}

bool Gangs::note_held(const std::vector<scheduler::Waiting>& waiting,
                      const std::vector<scheduler::HostView>& hosts, Now now) {
  Held held = held_in(waiting, hosts);
  const Held before = std::exchange(held_, held);
  bool has_let_go = false;
  for (const auto& [cls, ids] : before) {
    if (held.contains(cls) || !waiting_.queue().waits(cls)) continue;
    const auto why = std::ranges::find(waiting, cls, &scheduler::Waiting::cls);
    if (why == waiting.end())
      let_go(cls, "its hosts have changed since they were chosen", now);
    else if (why->code == model::WaitingCode::kPlanning)
      drop(cls, why->reason, now);  // It has lost its turn: nothing was tried in vain.
    else
      let_go(cls, why->reason, now);
    has_let_go = true;
  }
  tidy();
  return has_let_go;
}

Mono Gangs::not_before(demand::ClassId cls) const {
  const auto found = pauses_.find(cls);
  return found == pauses_.end() ? Mono{} : found->second.until;
}

void Gangs::add_pauses(std::vector<scheduler::Waiting>& waiting, Now now) const {
  for (scheduler::Waiting& one : waiting)
    if (const Mono until = not_before(one.cls); until > now.mono)
      one.reason += "; it holds no hosts before " + format_wall(now.wall + (until - now.mono));
}

void Gangs::let_go(demand::ClassId cls, const std::string& why, Now now) {
  drop(cls, why + pause(cls, now), now);
}

void Gangs::drop(demand::ClassId cls, const std::string& why, Now now) {
  held_.erase(cls);
  ++counts_.let_go;
  const model::Gang& gang = waiting_.queue().at(cls).shape.gang;
  recorder_.record("dispatcher", model::WorkId{gang.id, model::WorkKind::kLease}.text(),
                   model::Event::kLetGo, "", why, now);
}

std::string Gangs::pause(demand::ClassId cls, Now now) {
  Pause& pause = pauses_[cls];
  Duration wait = kFirstPause;
  for (std::uint32_t n = 0; n < pause.tries && wait < kLongestPause; ++n) wait *= 2;
  wait = std::min(wait, kLongestPause);
  pause = {now.mono + wait, pause.tries + 1};
  return "; the gang of " + std::to_string(waiting_.queue().at(cls).shape.gang.count) +
         " leases holds no hosts before " + format_wall(now.wall + wait);
}

void Gangs::note_broken(const model::Gang& gang, bool lets_go) {
  if (gang.count == 0) return;
  Broken& broken = broken_[gang.id];
  broken.gang = gang;
  broken.lets_go |= lets_go;
}

void Gangs::tidy() {
  std::erase_if(pauses_, [&](const auto& entry) {
    const auto* known = waiting_.queue().find(entry.first);
    return known == nullptr || known->users == 0;
  });
}

}  // namespace hostler::dispatch
