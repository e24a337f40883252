#include "core/dispatch/handlers/lending.h"

#include "core/demand/shares.h"
#include "core/fleet/uses.h"

namespace hostler::dispatch {
namespace {

/// The whole of a host, as it counts for shares and limits.
model::Amounts whole(const Host& host, const model::Resources& room) {
  return model::Amounts::of(
      room, demand::price_of_part(host.instance.record.price_per_hour, room, room, 1));
}

}  // namespace

/// Since the plan was made its set may have stopped, its uses may have ended, and its pool may lend
/// none any more.
bool Lending::may_lend(const Host& host) const {
  const auto& instance = host.instance;
  return instance.takes_work() && instance.empty() && viewer_.attempts_left(instance) > 0 &&
         host.closed == scheduler::Closed::kNo && policy_.pools[instance.pool].leases.has_value();
}

bool Lending::suits(const Host& host, const model::WorkShape& shape) const {
  const auto& instance = host.instance;
  if (!shape.needs.fits_in(room_of(host))) return false;
  return !instance.type || instance.occupancy.choose_cards(policy_.types[*instance.type],
                                                           shape.needs.gpus, shape.constraints.gpu);
}

model::Resources Lending::room_of(const Host& host) const {
  const auto& instance = host.instance;
  return instance.type ? instance.occupancy.room_of(policy_.types[*instance.type])
                       : instance.record.total;
}

bool Lending::place(Host& host, demand::ClassId cls, Now now) {
  if (!waiting_.queue().waits(cls) || !may_lend(host)) return false;
  if (!suits(host, waiting_.queue().at(cls).shape)) return false;
  if (!waiting_.queue().has_next(cls, whole(host, room_of(host)))) return false;
  lend(host, cls, now);
  return true;
}

bool Lending::place_gang(const std::vector<Host*>& hosts, demand::ClassId cls, Now now) {
  if (!waiting_.queue().waits(cls)) return false;
  const auto& gang = waiting_.queue().at(cls);
  if (gang.count != hosts.size() || gang.shape.gang.count != hosts.size()) return false;
  demand::Allowance left = waiting_.queue().allowance(gang.fronts.front().principal);
  for (const Host* host : hosts) {
    if (!may_lend(*host)) return false;
    const model::Resources room = room_of(*host);
    const model::Amounts part = whole(*host, room);
    if (!suits(*host, gang.shape) || !left.covers(part)) return false;
    left.take(part, 1);
  }
  for (Host* host : hosts) lend(*host, cls, now);
  return true;
}

void Lending::lend(Host& host, demand::ClassId cls, Now now) {
  const model::Resources room = room_of(host);
  const model::Amounts part = whole(host, room);
  work::Lease& lease = leases_.pop(cls, part);
  if (host.reserved_for == cls) host.reserved_for.reset();
  const auto& pool = policy_.pools[host.instance.pool];
  const model::Login login = LeaseAccounts::login_of(lease, pool);
  steps_.apply(lease, work::placed(lease, host.id(), login, now), now);
  leases_.hold(lease, part, now.mono);
  auto& record = host.instance.record;
  if (fleet::count_use(record, pool))
    recorder_.change(model::InstanceChanged{record, nullptr, false});
  host.instance.occupancy.add(fleet::Claim{lease.id(), room, true});
  grant(host, lease, now);
}

void Lending::grant(const Host& host, work::Lease& lease, Now now) {
  if (lease.has_account()) return accounts_.open(host, lease, now);
  (void)steps_.grant(lease, now);
}

void Lending::connected(const Host& host, Now now) {
  for (const auto& claim : host.instance.occupancy.claims()) {
    work::Lease* lease = leases_.find(claim.work);
    if (lease != nullptr && lease->state() == model::WorkState::kStarting)
      leases_.set_due(*lease, now.mono);
  }
  accounts_.tell(host, now);
}

void Lending::claim(Host& host, work::Lease& lease, Now now) {
  const model::Resources room = room_of(host);
  host.instance.occupancy.add(fleet::Claim{lease.id(), room, true});
  leases_.hold(lease, whole(host, room), now.mono);
  const bool is_proved_anew = model::needs_link(policy_.pools[host.instance.pool].readiness);
  if (lease.state() == model::WorkState::kStarting && !is_proved_anew)
    leases_.set_due(lease, now.mono);
}

}  // namespace hostler::dispatch
