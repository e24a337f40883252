#include "core/dispatch/state/hosts.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::dispatch {
namespace {

/// Free room is no reason for a plan: it is filled at once, in the order of the queue.
bool is_worth_a_plan(scheduler::HostView before, const scheduler::HostView& after) {
  before.free = after.free;
  before.cards = after.cards;
  before.attempts_left = after.attempts_left;
  return before != after;
}

}  // namespace

Host& Hosts::add(Host made) {
  const model::InstanceId id = made.id();
  HOSTLER_ASSERT(id == next_id(), "instances are numbered in the order of their making");
  last_ = id.value;
  return restore(std::move(made));
}

Host& Hosts::restore(Host known) {
  const model::InstanceId id = known.id();
  keys_.add(known.instance.record);
  touched_.push_back(id);
  const auto [at, fresh] = hosts_.emplace(id, std::move(known));
  HOSTLER_ASSERT(fresh, "an instance is added once");
  return at->second;
}

void Hosts::erase(model::InstanceId id) {
  const auto found = hosts_.find(id);
  HOSTLER_ASSERT(found != hosts_.end(), "only a known host is erased");
  HOSTLER_ASSERT(found->second.instance.empty(), "a host that is erased has no attempts");
  keys_.remove(found->second.instance.record);
  deadlines_.remove(id);
  notices_.remove(id);
  outputs_.remove(id);
  drains_.remove(id);
  agents_.remove(id);
  touched_.push_back(id);
  unsettle(found->second);
  hosts_.erase(found);
}

void Hosts::unsettle(Host& host) {
  if (!host.settled) return;
  host.settled->holds = false;
  host.instance.listing.ignore_until(host.settled->shown_at);
  host.settled.reset();
}

Host* Hosts::change(model::InstanceId id) {
  const auto found = hosts_.find(id);
  if (found == hosts_.end()) return nullptr;
  if (touched_.empty() || touched_.back() != id) touched_.push_back(id);
  unsettle(found->second);
  return &found->second;
}

const Host* Hosts::find(model::InstanceId id) const {
  const auto found = hosts_.find(id);
  return found == hosts_.end() ? nullptr : &found->second;
}

std::vector<model::InstanceId> Hosts::ids() const {
  std::vector<model::InstanceId> out;
  out.reserve(hosts_.size());
  for (const auto& [id, host] : hosts_) out.push_back(id);
  return out;
}

void Hosts::find_by_cloud_ids(const std::string& set, CloudIds& ids) const {
  if (ids.empty()) return;
  for (const auto& [id, host] : hosts_) {
    if (host.instance.record.set != set) continue;
    const auto wanted = ids.find(host.instance.record.provider_id);
    if (wanted != ids.end() && !wanted->second) wanted->second = id;
  }
}

void Hosts::reserve(model::InstanceId id, demand::ClassId cls) {
  Host* chosen = change(id);
  if (chosen == nullptr) return;
  chosen->reserved_for = cls;
  reserved_.push_back(id);
}

void Hosts::clear_reservations() {
  for (const auto id : std::exchange(reserved_, {}))
    if (Host* host = change(id)) host->reserved_for.reset();
}

void Hosts::close(const std::vector<scheduler::Close>& closed) {
  std::map<model::InstanceId, scheduler::Closed> why;
  for (const auto& one : closed) why[one.host] = one.why;
  for (const auto id : std::exchange(closed_, {}))
    if (!why.contains(id))
      if (Host* host = change(id)) host->closed = scheduler::Closed::kNo;
  for (const auto& [id, reason] : why) {
    const Host* known = find(id);
    if (known == nullptr) continue;
    closed_.push_back(id);
    if (known->closed != reason) change(id)->closed = reason;
  }
}

void Hosts::touch_all() {
  for (auto& [id, other] : hosts_) {
    unsettle(other);
    touched_.push_back(id);
  }
}

bool Hosts::refresh_views(const HostViewer& viewer) {
  bool wants_plan = false;
  std::vector<model::InstanceId> gone;
  for (const auto id : touched_) {
    const Host* touched = find(id);
    if (touched == nullptr) {
      gone.push_back(id);
      continue;
    }
    auto seen = viewer.view(*touched);
    const auto before = std::ranges::lower_bound(views_, id, {}, &scheduler::HostView::id);
    if (before == views_.end() || before->id != id) {
      views_.insert(before, std::move(seen));
      wants_plan = true;
    } else if (*before != seen) {
      wants_plan |= is_worth_a_plan(*before, seen);
      *before = std::move(seen);
    }
  }
  touched_.clear();
  if (!gone.empty()) {
    std::ranges::sort(gone);
    std::erase_if(views_, [&](const auto& of) { return std::ranges::binary_search(gone, of.id); });
  }
  HOSTLER_ASSERT(views_.size() == hosts_.size(), "each host has one view");
  return wants_plan;
}

const std::vector<scheduler::HostView>& Hosts::views() const {
  HOSTLER_ASSERT(touched_.empty(), "a host that was touched is viewed again before it is shown");
  return views_;
}

CollectingHosts collecting(const Hosts& hosts) {
  CollectingHosts out;
  for (const auto& [id, host] : hosts.all()) {
    const auto& attempts = host.instance.occupancy.attempts();
    if (!std::ranges::any_of(attempts, &fleet::PlacedAttempt::collecting)) continue;
    ++out.hosts;
    for (const auto& one : attempts) out.waiting_jobs += one.fetch.waits_for_room ? 1 : 0;
    out.price_per_hour += host.instance.record.price_per_hour;
  }
  return out;
}

}  // namespace hostler::dispatch
