#include "core/dispatch/state/leases.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/base/units.h"

namespace hostler::dispatch {

using model::WorkState;

namespace {

std::size_t bytes_of_texts(const model::LeaseRecord& terms) {
  std::size_t out = terms.notice_command.size();
  for (const auto& key : terms.ssh_keys) out += key.size();
  return out;
}

}  // namespace

/// Adds a lease, but not to the queue.
work::Lease& Leases::insert(const model::WorkItem& item, const model::LeaseRecord& terms, Now now) {
  const auto [at, fresh] = leases_.try_emplace(item.record.id);
  HOSTLER_ASSERT(fresh, "a lease is accepted once");
  work::Lease& made = at->second;
  made.arrival = item.arrival;
  made.cls = waiting_.intern(item.shape, item.record.id.kind);
  made.principal = principals_.intern(item.principal);
  made.queued = item.record.state == WorkState::kQueued;
  made.record = item.record;
  made.terms = terms;
  if (const std::size_t bytes = bytes_of_texts(terms); bytes > 0) texts_[made.principal] += bytes;
  work::set_due(made, item.submitted, now);
  schedule(made);
  return made;
}

void Leases::restore(const model::WorkItem& item, const model::LeaseRecord& terms,
                     Mono waiting_since, Now now) {
  const work::Lease& known = insert(item, terms, now);
  if (known.queued) waiting_.enter(place_of(known), waiting_since);
}

model::WorkId Leases::add(model::WorkItem& item, model::LeaseRecord& terms, Now now) {
  item.record.id = {waiting_.next_number(), model::WorkKind::kLease};
  terms.id = item.record.id;
  if (item.shape.gang.count > 0 && item.shape.gang.id == 0) item.shape.gang.id = terms.id.value;
  item.arrival = waiting_.next_arrival();
  const work::Lease& made = insert(item, terms, now);
  waiting_.enter(place_of(made), now.mono);
  if (!item.client_key.empty())
    principals_.client_keys().add(item.principal, item.client_key, {item.client_digest, made.id()});
  return made.id();
}

Result<void> Leases::check_texts(const std::string& principal, const model::LeaseRecord& terms,
                                 std::uint32_t count) const {
  const auto id = principals_.find(principal);
  const auto found = id ? texts_.find(*id) : texts_.end();
  const std::size_t there = found == texts_.end() ? 0 : found->second;
  const std::size_t more = bytes_of_texts(terms) * count;
  if (more == 0 || there + more <= kTextsMax) return {};
  const auto size = [](std::size_t bytes) { return format_size(static_cast<std::int64_t>(bytes)); };
  return fail(Errc::kOverQuota, "ssh_keys and notice_command of the leases of " + principal +
                                    " may have " + size(kTextsMax) + ": they have " + size(there) +
                                    ", and this request has " + size(more) +
                                    " more; name fewer keys, or wait until some leases have ended");
}

std::vector<work::Lease*> Leases::members(const model::Gang& gang) {
  std::vector<work::Lease*> out;
  const model::WorkId end{gang.id + gang.count, model::WorkKind::kLease};
  for (auto at = leases_.lower_bound({gang.id, model::WorkKind::kLease});
       at != leases_.end() && at->first < end; ++at)
    out.push_back(&at->second);
  return out;
}

work::Lease* Leases::find(model::WorkId id) {
  const auto found = leases_.find(id);
  return found == leases_.end() ? nullptr : &found->second;
}

const work::Lease* Leases::find(model::WorkId id) const {
  const auto found = leases_.find(id);
  return found == leases_.end() ? nullptr : &found->second;
}

work::Lease& Leases::pop(demand::ClassId cls, const model::Amounts& host) {
  work::Lease* first = find(waiting_.pop(cls, host));
  HOSTLER_ASSERT(first != nullptr && first->queued, "the queue holds leases that wait");
  return *first;
}

void Leases::hold(work::Lease& lease, const model::Amounts& host, Mono now) {
  HOSTLER_ASSERT(lease.held.price_per_hour.value == 0, "a lease holds one host");
  lease.held = host;
  principals_.hold(lease.principal, lease.cls, host, now);
}

bool Leases::release(work::Lease& lease, Mono now) {
  if (lease.held.price_per_hour.value == 0) return false;
  return principals_.release(lease.principal, std::exchange(lease.held, {}), now);
}

bool Leases::settle(work::Lease& lease, work::Next next, Mono now) {
  const bool may_have_more = !lease.has_host() && release(lease, now);
  schedule(lease);
  if (next == work::Next::kQueueAgain) {
    waiting_.enter(place_of(lease), now);
    return true;
  }
  if (next != work::Next::kEnd) return may_have_more;
  const bool waited = waiting_.leave(place_of(lease));  // It ended while it waited.
  set_due(lease, fleet::kNever);
  waiting_.release(lease.cls);
  if (const auto texts = texts_.find(lease.principal); texts != texts_.end())
    if ((texts->second -= bytes_of_texts(lease.terms)) == 0) texts_.erase(texts);
  leases_.erase(lease.id());
  return waited || may_have_more;
}

void Leases::set_due(work::Lease& lease, Mono due) {
  lease.due = due;
  schedule(lease);
}

void Leases::set_notice(work::Lease& lease, Mono notice) {
  lease.notice = notice;
  schedule(lease);
}

void Leases::schedule(const work::Lease& lease) {
  const Mono next = std::min(lease.due, lease.notice);
  const auto known = due_.find(lease.id());
  if (known != due_.end()) {
    if (known->second == next) return;
    by_time_.erase({known->second, lease.id()});
    due_.erase(known);
  }
  if (next == fleet::kNever) return;
  due_[lease.id()] = next;
  by_time_.emplace(next, lease.id());
}

std::optional<model::WorkId> Leases::first_due(Mono now) const {
  if (next_due() > now) return std::nullopt;
  return by_time_.begin()->second;
}

Mono Leases::next_due() const { return by_time_.empty() ? fleet::kNever : by_time_.begin()->first; }

Leases::Counts Leases::counts() const {
  Counts out{};
  for (const auto& [id, lease] : leases_) {
    const auto at = std::ranges::find(model::kLiveStates, lease.state());
    ++out[static_cast<std::size_t>(at - model::kLiveStates.begin())];
  }
  return out;
}

std::vector<model::WorkId> Leases::placed() const {
  std::vector<model::WorkId> out;
  for (const auto& [id, lease] : leases_)
    if (lease.has_host()) out.push_back(id);
  return out;
}

void Leases::set_pools(work::Lease& lease, std::vector<std::string> pools, Mono now) {
  model::WorkShape shape = waiting_.queue().at(lease.cls).shape;
  shape.constraints.pools = std::move(pools);
  if (lease.queued) (void)waiting_.leave(place_of(lease));
  const demand::ClassId before = std::exchange(lease.cls, waiting_.intern(shape, lease.id().kind));
  waiting_.release(before);
  if (lease.queued) waiting_.enter(place_of(lease), now);
}

std::vector<model::WorkId> Leases::ungranted() const {
  std::vector<model::WorkId> out;
  for (const auto& [id, lease] : leases_)
    if (lease.state() == WorkState::kQueued || lease.state() == WorkState::kHeld ||
        lease.state() == WorkState::kStarting)
      out.push_back(id);
  return out;
}

std::vector<model::WorkId> Leases::held() const {
  std::vector<model::WorkId> out;
  for (const auto& [id, lease] : leases_)
    if (lease.state() == WorkState::kHeld) out.push_back(id);
  return out;
}

}  // namespace hostler::dispatch
