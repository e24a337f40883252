#include "core/scheduler/world.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "core/base/saturating.h"
#include "core/demand/shares.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/price_rule.h"

namespace hostler::scheduler {
namespace {

/// "max", and of other sources than the configuration "max of 3 (pushed)".
std::string max_text(const char* what, const BoundNumber& number) {
  return number.mark.empty() ? what : what + std::string(" of ") + number.text();
}

template <class T>
void lower(std::optional<T>& left, T by) {
  if (left) left = *left > by ? T{*left - by} : T{};
}

/// From one turn to the next, on average.
demand::Turn pace_of(const std::vector<demand::Turn>& heads) {
  if (heads.size() < 2) return {.use = 0, .arrival = 1};
  const demand::Turn &first = heads.front(), &last = heads.back();
  const std::uint64_t steps = heads.size() - 1;
  // Of several principals a later turn may have an earlier arrival.
  const std::uint64_t arrivals =
      last.arrival > first.arrival ? (last.arrival - first.arrival) / steps : 0;
  return {.use = (last.use - first.use) / static_cast<double>(steps),
          .arrival = std::max<std::uint64_t>(1, arrivals)};
}

}  // namespace

demand::Turn Demand::turn(std::uint64_t n) const {
  const auto& heads = view->heads;
  if (n < heads.size()) return heads[n];
  if (heads.empty()) return {.use = 0, .arrival = n};
  const std::uint64_t more = n - (heads.size() - 1);
  return {.use = heads.back().use + pace.use * static_cast<double>(more),
          .arrival = heads.back().arrival + pace.arrival * more};
}

Budget::Budget(const Snapshot& snapshot, const model::SitePolicy& policy,
               const std::vector<PoolNumbers>& bounds)
    : snapshot_(&snapshot),
      policy_(&policy),
      bounds_(&bounds),
      site_(snapshot.site),
      sets_(snapshot.sets),
      pools_(snapshot.pools) {
  sets_.resize(policy.sets.size());
  pools_.resize(policy.pools.size());
  std::vector<std::int64_t> standby;
  for (std::size_t p = 0; p < bounds.size(); ++p) {
    left_.push_back(
        {bounds[p].is_held ? 0 : bounds[p].started.max.value, bounds[p].created.max.value});
    standby.push_back(bounds[p].off_max());
  }
  for (std::size_t p = 0; p < std::min(left_.size(), snapshot.set_aside.size()); ++p) {
    left_[p].started -= snapshot.set_aside[p];
    left_[p].created -= snapshot.set_aside[p];
  }
  for (const HostView& host : snapshot.hosts) {
    if (host.phase == HostPhase::kLeaving || host.pool >= left_.size()) continue;
    --left_[host.pool].created;
    // The maximum counts hosts that are on, and all that are switched off beyond `stopped`.
    const bool within_standby = host.phase == HostPhase::kStopped && standby[host.pool]-- > 0;
    if (!within_standby) --left_[host.pool].started;
  }
}

std::int64_t Budget::creates(const Offering& o, std::int64_t wanted, std::string* ceiling) const {
  std::int64_t most = wanted;
  const auto bound = [&](std::int64_t limit, const auto& who, const auto& what) {
    if (limit >= most) return;
    most = std::max<std::int64_t>(0, limit);
    if (ceiling != nullptr) *ceiling = who() + " is at its ceiling: " + what();
  };
  const auto says = [](const char* what) { return [what] { return what; }; };
  const auto check = [&](const gates::Headroom& room, const auto& who) {
    if (room.instances) bound(*room.instances, who, says("instances"));
    if (room.creates) bound(*room.creates, who, says("creates per minute"));
    if (room.price_per_hour && o.price_per_hour.value > 0)
      bound(room.price_per_hour->value / o.price_per_hour.value, who, says("price per hour"));
  };
  const auto pool = [&] { return "pool " + policy_->pools[o.pool].name; };
  const PoolNumbers& bounds = (*bounds_)[o.pool];
  const Left& left = left_[o.pool];
  bound(left.started, pool, [&] { return max_text("max", bounds.started.max); });
  bound(left.created, pool,
        [&] { return max_text("switched-off hosts included, max", bounds.created.max); });
  check(pools_[o.pool], pool);
  check(sets_[o.set], [&] { return "set " + policy_->sets[o.set].name; });
  check(site_, [] { return std::string("the site"); });
  return most;
}

template <class Do>
void Budget::each(std::uint32_t set, std::uint32_t pool, Do act) {
  act(site_);
  if (set < sets_.size()) act(sets_[set]);
  if (pool < pools_.size()) act(pools_[pool]);
}

void Budget::create(const Offering& o, std::int64_t count) {
  left_[o.pool].started -= count;
  left_[o.pool].created -= count;
  each(o.set, o.pool, [&](gates::Headroom& room) {
    lower(room.instances, count);
    lower(room.creates, count);
    // The product is within the headroom: creates() has checked it.
    if (room.price_per_hour)
      room.price_per_hour->value -=
          std::min(room.price_per_hour->value, o.price_per_hour.value * count);
  });
}

bool Budget::has_room(const Offering& o) const {
  const auto ok = [&](const gates::Headroom& room) {
    return (!room.instances || *room.instances > 0) &&
           (!room.price_per_hour || o.price_per_hour.value <= 0 ||
            *room.price_per_hour >= o.price_per_hour);
  };
  const Left& left = left_[o.pool];
  return left.started > 0 && left.created > 0 && ok(site_) && ok(sets_[o.set]) &&
         ok(pools_[o.pool]);
}

bool Budget::rate_allows(const Offering& o) const {
  const auto ok = [](const gates::Headroom& room) { return !room.creates || *room.creates > 0; };
  return ok(site_) && ok(sets_[o.set]) && ok(pools_[o.pool]);
}

bool Budget::helps(const Offering& o, const HostView& host) const {
  const gates::Headroom& room = sets_[o.set];
  const bool set_blocks = (room.instances && *room.instances <= 0) ||
                          (room.price_per_hour && *room.price_per_hour < o.price_per_hour);
  return !set_blocks || set_of(host) == o.set;
}

std::uint32_t Budget::set_of(const HostView& host) const {
  return host.offering < snapshot_->offerings.size() ? snapshot_->offerings[host.offering].set
                                                     : kNone;
}

void Budget::free(const HostView& host) {
  if (host.pool < left_.size() && host.phase != HostPhase::kLeaving) {
    ++left_[host.pool].started;
    ++left_[host.pool].created;
  }
  each(set_of(host), host.pool, [&](gates::Headroom& room) {
    if (room.instances) ++*room.instances;
    if (room.price_per_hour)
      room.price_per_hour->value =
          add_saturating(room.price_per_hour->value, host.price_per_hour.value);
  });
}

bool Budget::may_wake(const HostView& host) const { return left_[host.pool].started > 0; }

void Budget::wake(const HostView& host) { --left_[host.pool].started; }

bool Budget::may_destroy(const HostView& host) const {
  const auto ok = [](const gates::Headroom& room) { return !room.destroys || *room.destroys > 0; };
  const std::uint32_t set = set_of(host);
  return ok(site_) && (set >= sets_.size() || ok(sets_[set])) &&
         (host.pool >= pools_.size() || ok(pools_[host.pool]));
}

void Budget::destroy(const HostView& host) {
  each(set_of(host), host.pool,
       [](gates::Headroom& room) { lower(room.destroys, std::int64_t{1}); });
}

World::World(const Snapshot& s, const model::SitePolicy& p)
    : snapshot(s),
      policy(p),
      bounds(numbers_of(p, s.bounds, s.hosts, s.set_aside)),
      hosts(s.hosts.size()),
      used(s.hosts.size()),
      stale_spot(s.hosts.size()),
      closed(closed_hosts(s.hosts, bounds, s.set_aside)),
      gives_way(s.hosts.size()),
      exchanged(s.hosts.size()),
      budget(s, p, bounds) {
  const auto by_id = [&](std::uint32_t a, std::uint32_t b) {
    return s.hosts[a].id < s.hosts[b].id;
  };
  std::iota(hosts.begin(), hosts.end(), 0U);
  if (!std::is_sorted(hosts.begin(), hosts.end(), by_id))
    std::sort(hosts.begin(), hosts.end(), by_id);
  for (std::uint32_t i = 0; i < s.offerings.size(); ++i)
    if (is_valid(s.offerings[i], p)) offers.push_back(i);
  std::sort(offers.begin(), offers.end(), [&](std::uint32_t a, std::uint32_t b) {
    return cheaper(s.offerings[a], s.offerings[b], p);
  });
  for (std::uint32_t i = 0; i < s.hosts.size(); ++i) {
    stale_spot[i] = is_stale_spot(s.hosts[i], s.now, p);
    const std::uint32_t pool = s.hosts[i].pool;
    if (pool >= bounds.size() || bounds[pool].is_held) closed[i] = Closed::kNo;
  }
  group_needs();
  give_up_spot();
}

void World::group_needs() {
  struct Less {
    bool operator()(const model::WorkShape* a, const model::WorkShape* b) const {
      return std::tie(a->needs, a->constraints) < std::tie(b->needs, b->constraints);
    }
  };
  std::map<const model::WorkShape*, std::uint32_t, Less> seen;
  demand.reserve(snapshot.classes.size());
  by_class_.reserve(snapshot.classes.size());
  for (const demand::ClassView& view : snapshot.classes) {
    const auto [found, fresh] =
        seen.try_emplace(&view.shape, static_cast<std::uint32_t>(needs.size()));
    if (fresh) {
      Need need;
      need.resources = view.shape.needs;
      need.constraints = &view.shape.constraints;
      if (*need.constraints != model::Constraints{}) {
        need.meets.resize(snapshot.offerings.size());
        for (const std::uint32_t i : offers) {
          const Offering& o = snapshot.offerings[i];
          need.meets[i] =
              scheduler::meets(*need.constraints, policy.types[o.type].name, o.zone, o.market);
        }
      }
      find_cheapest(*this, need);
      needs.push_back(std::move(need));
    }
    by_class_.emplace_back(view.id, static_cast<std::uint32_t>(demand.size()));
    demand.push_back({.view = &view,
                      .need = found->second,
                      .price = view.price ? static_cast<std::uint32_t>(prices.size()) : kNone,
                      .left = view.displaced ? 0 : view.count,
                      .uncovered = view.count,
                      .placed = 0,
                      .pace = pace_of(view.heads)});
    if (view.price) prices.push_back(*view.price);
  }
  std::sort(by_class_.begin(), by_class_.end());
}

bool World::may_hold(const HostView& host, const Need& need) const {
  return need.resources.fits_in(host.total) && meets(need, host);
}

bool World::stays(const HostView& host) const {
  if (host.kept || bounds[host.pool].is_held) return true;
  const auto has_to_be_spot = [this](const demand::Load& load) {
    const std::uint32_t at = find(load.cls);
    return at != kNone && !needs[demand[at].need].falls_back();
  };
  if (!host.load.empty()) return std::ranges::any_of(host.load, has_to_be_spot);
  return std::ranges::any_of(
      needs, [&](const Need& need) { return !need.falls_back() && may_hold(host, need); });
}

void World::give_up_spot() {
  std::vector<const HostView*> in_vain;  // One host of each offering is enough.
  for (std::uint32_t h = 0; h < snapshot.hosts.size(); ++h) {
    const HostView& host = snapshot.hosts[h];
    const auto is_alike = [&](const HostView* other) { return other->offering == host.offering; };
    if (stale_spot[h] && std::ranges::none_of(in_vain, is_alike) && !stays(host))
      in_vain.push_back(&host);
  }
  for (Need& need : needs)
    need.spot_in_vain = need.falls_back() && std::ranges::any_of(in_vain, [&](const auto* host) {
                          return may_hold(*host, need);
                        });
}

bool World::meets(const Need& need, const HostView& host) const {
  if (host.offering < snapshot.offerings.size()) return meets(need, host.offering);
  return *need.constraints == model::Constraints{};  // Its type has left the menu.
}

std::uint64_t World::items_per_host(const Need& need, const Offering& offering) const {
  const std::uint64_t fits = fit_count(need.resources, offering.resources);
  const std::int32_t most =
      model::jobs_max_of(policy.pools[offering.pool], policy.types[offering.type]);
  return std::min(fits, static_cast<std::uint64_t>(most));
}

model::Micros World::price_of_part(const Demand& of, const HostView& host) const {
  return demand::price_of_part(host.price_per_hour, needs[of.need].resources, host.total);
}

model::Micros World::price_of_part(const Demand& of, const Offering& offering) const {
  return demand::price_of_part(offering.price_per_hour, needs[of.need].resources,
                               offering.resources);
}

std::span<const std::pair<demand::ClassId, std::uint32_t>> World::find_all(
    demand::ClassId cls) const {
  const auto [first, last] =
      std::equal_range(by_class_.begin(), by_class_.end(), std::pair(cls, 0U),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
  return {first, last};
}

std::uint32_t World::find(demand::ClassId cls) const {
  const auto found = std::lower_bound(by_class_.begin(), by_class_.end(), std::pair(cls, 0U));
  return found != by_class_.end() && found->first == cls ? found->second : kNone;
}

}  // namespace hostler::scheduler
