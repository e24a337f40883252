#include "core/dispatch/handlers/lease_takeover.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/dispatch/handlers/takeover.h"
#include "core/model/lease_account.h"

namespace hostler::dispatch {
namespace {

/// How many accounts of other leases are closed at once: a host that does not lie has one.
constexpr std::size_t kClosedMax = 4;

/// The kind of account that is there, even if the pool lends without a login now.
model::Login login_there(const model::PoolPolicy& pool) {
  return pool.leases->login == model::Login::kRoot ? model::Login::kRoot : model::Login::kUser;
}

}  // namespace

void LeaseTakeover::ask(const Host& host, Now now) {
  const auto& instance = host.instance;
  const bool is_kept =
      instance.record.health == model::Health::kBroken && !instance.occupancy.in_use();
  if (make_.find && may_be_lent_anew(host) && instance.link.is_connected() &&
      (is_kept || lost_time_.may_have_work(instance.record.epoch)))
    commands_.run(host.id(), {}, LeaseStep::kFind, make_.find(), now);
}

bool LeaseTakeover::may_be_lent_anew(const Host& host) const {
  return policy_.pools[host.instance.pool].leases &&
         (!host.instance.occupancy.in_use() || old_lease(host) != nullptr);
}

work::Lease* LeaseTakeover::old_lease(const Host& host) const {
  if (host.unknown_work.has_lease) return nullptr;
  const auto& claims = host.instance.occupancy.claims();
  work::Lease* lease = claims.empty() ? nullptr : leases_.find(claims.front().work);
  return lease != nullptr && lease->record.restored ? lease : nullptr;
}

void LeaseTakeover::end_old(Host& host, model::WorkId newer, Now now) {
  work::Lease* old = old_lease(host);
  if (old == nullptr) return;
  host.instance.occupancy.remove(old->id());
  const std::string why = host.id().text() + " has been lent to " + newer.text() + " since";
  steps_.apply(*old, work::host_gone(*old, why, /*was_announced=*/false, now), now);
}

bool LeaseTakeover::may_take(const Host& host, model::WorkId id) const {
  if (host.unknown_work.has_lease || !lost_time_.may_have_work(host.instance.record.epoch))
    return false;
  const work::Lease* known = leases_.find(id);
  return known != nullptr ? known->state() == model::WorkState::kHeld
                          : lost_time_.has(id) && !set_aside_.contains(id);
}

bool LeaseTakeover::has_left(const Host& host, model::WorkId id) const {
  if (const work::Lease* known = leases_.find(id))
    return !known->record.restored && known->record.instance != host.id();
  return !lost_time_.has(id) && !set_aside_.contains(id) && id.value <= waiting_.last_number();
}

void LeaseTakeover::keep(Host& host, model::WorkId lease, Now now) {
  auto& instance = host.instance;
  const bool is_kept = instance.record.health == model::Health::kBroken;
  if (is_kept || instance.occupancy.in_use() || !instance.link.is_connected()) return;
  const std::string why = "it has the account of " + lease.text();
  instance_steps_.apply(host, fleet::hold(instance, why, now), "host", now);
  instance_steps_.apply(host, fleet::lease_ended(instance, lease, now), "host", now);
}

std::vector<model::WorkId> LeaseTakeover::found(const HostCommands::Ended& answer, Now now) {
  Host* host = hosts_.change(answer.on);
  if (host == nullptr || !may_be_lent_anew(*host)) return {};
  std::vector<model::WorkId> closed;
  const work::Lease* old = old_lease(*host);
  std::optional<model::WorkId> newest, any;
  for (const std::string_view line : split(answer.output, '\n')) {
    const auto id = model::LeaseAccount::lease_of(line);
    if (!id) continue;
    if (old != nullptr && *id == old->id()) return {};  // It has the host still.
    any = id;
    if (may_take(*host, *id)) newest = std::max(newest, id);
    if (closed.size() < kClosedMax && has_left(*host, *id)) closed.push_back(*id);
  }
  if (newest)
    take(*host, *newest, now);
  else if (any)
    keep(*host, *any, now);
  return closed;
}

void LeaseTakeover::take(Host& host, model::WorkId id, Now now) {
  end_old(host, id, now);
  host.unknown_work.has_lease = true;
  work::Lease* known = leases_.find(id);
  work::Lease& lease = known != nullptr ? *known : make_lease(host, id, now);
  const auto& pool = policy_.pools[host.instance.pool];
  steps_.apply(lease, work::taken_over(lease, host.id(), login_there(pool), now), now);
  lending_.claim(host, lease, now);
  instance_steps_.apply(host, fleet::work_changed(host.instance, pool, now), "host", now);
}

work::Lease& LeaseTakeover::make_lease(const Host& host, model::WorkId id, Now now) {
  const auto& pool = policy_.pools[host.instance.pool];
  lost_time_.take(id);
  model::WorkItem item;
  item.record.id = id;
  item.record.state = model::WorkState::kHeld;
  item.record.restored = true;
  item.arrival = waiting_.next_arrival();
  item.shape.needs = host.instance.record.total;
  item.shape.exclusive = true;
  item.shape.constraints.pools = {pool.name};
  item.principal = item.name = kUnknownHolder;
  item.submitted = now.wall;
  item.body = std::make_shared<const std::string>("{}");
  model::LeaseRecord terms;
  terms.id = id;
  terms.term = pool.leases->max_term;
  leases_.restore(item, terms, now.mono, now);
  recorder_.change(std::move(item));
  recorder_.change(model::LeaseChanged{terms});
  return *leases_.find(id);
}

}  // namespace hostler::dispatch
