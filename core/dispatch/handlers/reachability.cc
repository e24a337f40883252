#include "core/dispatch/handlers/reachability.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::dispatch {

using model::InstanceState;

namespace {

constexpr std::size_t kHostsMin = 3;  ///< Fewer hosts are lost one by one.

bool is_on(const fleet::Instance& instance) {
  return instance.record.state == InstanceState::kIdle ||
         instance.record.state == InstanceState::kBusy;
}

/// The cloud itself has switched it off. Where work is on it one list proves nothing, and
/// fleet::listed() says when it is off.
bool is_off(const fleet::Instance& instance) {
  return instance.empty() && instance.listing.is_off();
}

/// It was reached before, and cannot be reached now. One that the cloud itself has stopped is none
/// of these.
bool is_lost(const fleet::Instance& instance) {
  return is_on(instance) && instance.link.unreachable_since() && !is_off(instance);
}

/// It was ready before the restart, and was not reached since.
bool is_unverified(const fleet::Instance& instance) {
  return instance.record.state == InstanceState::kUnknown && instance.record.identity.verified_by &&
         !instance.link.is_connected() && !is_off(instance);
}

}  // namespace

bool Reachability::is_mass(const Set& set, std::size_t n) const {
  return n >= kHostsMin && 2 * n >= n + set.reach.connected.size();
}

/// The return of a host that was lost later says nothing about the others: perhaps only its own
/// connection broke.
bool Reachability::ends_partition(const Set& set, Mono lost_at) {
  const Mono begun = set.reach.partition->begun;
  return lost_at <= begun || std::ranges::none_of(set.reach.unreachable, [&](const auto& one) {
           return one.second <= begun;
         });
}

void Reachability::update(Host& host, Now now) {
  auto& instance = host.instance;
  Set& set = sets_.at(instance.set);
  const auto id = host.id();
  const bool was_connected = set.reach.connected.contains(id);
  if (instance.link.is_connected())
    set.reach.connected.insert(id);
  else
    set.reach.connected.erase(id);
  const bool lost = is_lost(instance);
  const bool was_unreachable = set.reach.unreachable.contains(id);
  if (lost && !was_unreachable) {
    set.reach.unreachable[id] = *instance.link.unreachable_since();
    const Mono from = now.mono - policy_.pools[instance.pool].probe_timeout;
    const auto n = std::ranges::count_if(set.reach.unreachable,
                                         [&](const auto& one) { return one.second >= from; });
    if (!set.reach.partition && is_mass(set, static_cast<std::size_t>(n)))
      begin(set, instance.set, static_cast<std::size_t>(n), now);
  } else if (!lost && was_unreachable && !is_unverified(instance)) {
    const Mono lost_at = set.reach.unreachable.extract(id).mapped();
    // The cloud has stopped it: its own probe timeout counts.
    if (is_on(instance) && instance.link.unreachable_since())
      instance.deadline =
          *instance.link.unreachable_since() + policy_.pools[instance.pool].probe_timeout;
    if (set.reach.partition && ends_partition(set, lost_at) &&
        (instance.link.is_connected() || (is_on(instance) && !instance.link.unreachable_since())))
      end(set, "host", id.text() + " answers again", /*at_once=*/false, now);
    else if (set.reach.partition && set.reach.unreachable.empty())
      end(set, "host", "none of the unreachable hosts is left", /*at_once=*/false, now);
  }
  if (!set.reach.partition) return;
  if (instance.link.is_connected() && !was_connected &&
      !set.reach.partition->boots_failed.empty()) {
    set.reach.partition->boots_failed.clear();
    plan_.want();
  }
  if (instance.record.state == InstanceState::kTerminating &&
      instance.record.reason_code == model::Reason::kBootTimeout &&
      !instance.record.identity.verified_by)
    set.reach.partition->boots_failed.insert(id);
}

void Reachability::forget(const Host& host) {
  Set& set = sets_.at(host.instance.set);
  set.reach.unreachable.erase(host.id());
  set.reach.connected.erase(host.id());
}

std::vector<model::InstanceId> Reachability::unverified(const Host& like) const {
  std::vector<model::InstanceId> out;
  for (const auto& [id, other] : hosts_.all())
    if (other.instance.set == like.instance.set && is_unverified(other.instance)) out.push_back(id);
  return out;
}

bool Reachability::holds(Host& host, Now now) {
  auto& instance = host.instance;
  Set& set = sets_.at(instance.set);
  const bool after_restart = is_unverified(instance);
  if (!after_restart && !is_lost(instance)) return false;
  if (after_restart && !std::exchange(set.reach.looked_after_restart, true)) {
    auto unreachable = set.reach.unreachable;
    for (const auto id : unverified(host)) unreachable.emplace(id, now.mono);
    if (!set.reach.partition && is_mass(set, unreachable.size())) {
      set.reach.unreachable = std::move(unreachable);
      begin(set, instance.set, set.reach.unreachable.size(), now);
    }
  }
  if (!set.reach.partition) return false;
  if (now.mono >= set.reach.partition->until) {
    end(set, "host", "mass_unreachable_hold has passed: the unreachable hosts are destroyed",
        /*at_once=*/true, now);
    return false;
  }
  instance.deadline = set.reach.partition->until;
  hosts_.schedule(host);
  return true;
}

void Reachability::begin(Set& set, std::uint32_t index, std::size_t hosts, Now now) {
  set.reach.partition = Partition{.since = now.wall,
                                  .begun = now.mono,
                                  .until = now.mono + policy_.sets[index].mass_unreachable_hold,
                                  .boots_failed = {}};
  hosts_.touch_all();
  recorder_.record("host", "set " + set.name, model::Event::kPartition, "",
                   std::to_string(hosts) + " hosts became unreachable" +
                       model::behind_jump_host(policy_.sets[index]) + ", " +
                       std::to_string(set.reach.connected.size()) +
                       " are connected: none of them is destroyed for that before " +
                       format_wall(now.wall + policy_.sets[index].mass_unreachable_hold),
                   now);
}

void Reachability::end(Set& set, const char* actor, const std::string& why, bool at_once, Now now) {
  set.reach.partition.reset();
  for (auto& [id, since] : set.reach.unreachable) {
    Host* host = hosts_.change(id);
    if (host == nullptr) continue;
    auto& instance = host->instance;
    since = now.mono;
    if (instance.link.unreachable_since() && !at_once) instance.link.set_unreachable(now.mono);
    instance.deadline = at_once ? now.mono : now.mono + policy_.pools[instance.pool].probe_timeout;
    hosts_.schedule(*host);
  }
  if (at_once) set.reach.unreachable.clear();
  hosts_.touch_all();
  plan_.want();
  recorder_.record(actor, "set " + set.name, model::Event::kPartitionEnded, "", why, now);
}

void Reachability::on(const GiveUpUnreachable& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index)
    return recorder_.reply(event.ticket, fail(Errc::kNotFound, "no instance set " + event.set));
  Set& set = sets_.at(*index);
  if (!set.reach.partition)
    return recorder_.reply(
        event.ticket,
        fail(Errc::kConflict, "set " + event.set +
                                  " has no unreachable hosts that are kept: each unreachable host "
                                  "is ended after its pool's probe_timeout"));
  end(set, "user", "by " + event.actor, /*at_once=*/true, now);
  recorder_.reply(event.ticket, std::vector<model::WorkId>{});
}

void Reachability::on(const JumpHostChanged& event, Now now) {
  constexpr std::size_t kShownMax = 400;  // bytes
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  auto& known = sets_.at(*index).reach.jump_host;
  if (event.problem.empty()) return known.reset();
  if (!known) known = JumpHostProblem{now.wall, {}};
  known->text = printable(event.problem, kShownMax);
}

}  // namespace hostler::dispatch
