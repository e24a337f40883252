#include "core/scheduler/world.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "core/demand/shares.h"
#include "core/scheduler/agents.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/patience.h"
#include "core/scheduler/price_rule.h"

namespace hostler::scheduler {
namespace {

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

World::World(const Snapshot& s, const model::SitePolicy& p)
    : snapshot(s),
      policy(p),
      bounds(numbers_of(p, s.bounds, s.hosts, s.set_aside)),
      hosts(s.hosts.size()),
      used(s.hosts.size()),
      stale_spot(s.hosts.size()),
      closed(closed_hosts(s.hosts, bounds, s.set_aside, s.classes, p,
                          {.now = s.now, .offerings = &s.offerings})),
      gives_way(s.hosts.size()),
      too_dear(s.hosts.size(), model::Reason::kNone),
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

model::Reason World::goes_anyway(std::uint32_t host) const {
  const HostView& view = snapshot.hosts[host];
  const auto* its = pool(view);
  if (view.agent == AgentState::kNone || its == nullptr || bounds[view.pool].is_held ||
      bounds[view.pool].is_stale || bounds[view.pool].is_abandoned)
    return model::Reason::kNone;
  return scheduler::goes_anyway(view, *its, snapshot.now);
}

bool World::turns_off(std::uint32_t host) const {
  const HostView& view = snapshot.hosts[host];
  if (view.pool >= bounds.size()) return false;
  const PoolNumbers& its = bounds[view.pool];
  const bool is_beyond =
      its.has_created && closed[host] == Closed::kBeyondMax && !view.unfulfilled_spot;
  return is_beyond || (its.off_max() > 0 && drains_to_standby(view));
}

bool World::was_held(std::uint32_t host) const {
  const auto& holder = snapshot.hosts[host].reserved_for;
  const std::uint32_t at = holder ? find(*holder) : kNone;
  return at != kNone && may_gather(*demand[at].view, snapshot.now);
}

bool may_gather(const demand::ClassView& view, Mono now) {
  const model::Gang& gang = view.shape.gang;
  return gang.count > 0 && view.count == gang.count && !view.displaced && view.not_before <= now;
}

Need World::need_of(const demand::ClassView& view, bool are_mixed) const {
  Need need;
  need.resources = view.shape.needs;
  need.constraints = &view.shape.constraints;
  need.kind = view.kind;
  need.exclusive = view.shape.exclusive;
  const auto is_taken = [&](const model::PoolPolicy& p) { return takes(p, need.kind); };
  const bool has_any_cards = need.resources.gpus == 0 || !are_mixed;
  if (*need.constraints == model::Constraints{} && has_any_cards &&
      std::ranges::all_of(policy.pools, is_taken))
    return need;
  need.meets.resize(snapshot.offerings.size());
  for (const std::uint32_t i : offers) {
    const Offering& o = snapshot.offerings[i];
    if (!scheduler::meets(need.kind, *need.constraints, policy.pools[o.pool],
                          policy.types[o.type].name, o.zone, o.market))
      continue;
    const bool cards = model::has_cards(o.gpus, need.wish(), need.resources.gpus);
    need.meets[i] = cards ? Meets::kYes : Meets::kButCards;
  }
  return need;
}

void World::group_needs() {
  struct Less {
    bool operator()(const demand::ClassView* a, const demand::ClassView* b) const {
      const auto key = [](const demand::ClassView& view) {
        const model::WorkShape& shape = view.shape;
        return std::tie(shape.needs, shape.constraints, shape.exclusive, view.kind);
      };
      return key(*a) < key(*b);
    }
  };
  const bool are_mixed = std::ranges::any_of(
      offers, [&](std::uint32_t i) { return snapshot.offerings[i].gpus.size() > 1; });
  std::map<const demand::ClassView*, std::uint32_t, Less> seen;
  demand.reserve(snapshot.classes.size());
  by_class_.reserve(snapshot.classes.size());
  for (const demand::ClassView& view : snapshot.classes) {
    const auto [found, fresh] = seen.try_emplace(&view, static_cast<std::uint32_t>(needs.size()));
    if (fresh) needs.push_back(need_of(view, are_mixed));
    needs[found->second].items += view.count;
    by_class_.emplace_back(view.id, static_cast<std::uint32_t>(demand.size()));
    const bool is_gang = view.shape.gang.count > 0;  // Only gather() deals with it.
    demand.push_back({.view = &view,
                      .need = found->second,
                      .price = view.price ? static_cast<std::uint32_t>(prices.size()) : kNone,
                      .left = view.displaced || is_gang ? 0 : view.count,
                      .uncovered = is_gang ? 0 : view.count,
                      .placed = 0,
                      .on_unseen = 0,
                      .unseen = kNone,
                      .missing = 0,
                      .pace = pace_of(view.heads)});
    if (view.price) prices.push_back(*view.price);
  }
  const bool has_spot = std::ranges::any_of(offers, [&](std::uint32_t i) {
    return snapshot.offerings[i].market == model::Market::kSpot;
  });
  for (Need& need : needs) find_cheapest(*this, need, has_spot);
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
  const bool is_offered = host.offering < snapshot.offerings.size();
  if (is_offered && host.gpus.empty()) return meets(need, host.offering);
  // Else its type has left the menu.
  const auto* its = pool(host);
  const bool may_go = is_offered ? meets_but_cards(need, host.offering)
                                 : *need.constraints == model::Constraints{} &&
                                       (its == nullptr || takes(*its, need.kind));
  return may_go && model::has_cards(host.gpus, need.wish(), need.resources.gpus);
}

std::uint64_t fit_count(const Need& need, const model::Resources& room,
                        const model::GpuGroups& cards) {
  std::uint64_t fits = fit_count(need.resources, room);
  if (!cards.empty())
    fits = std::min(fits, model::fit_count(cards, need.wish(), need.resources.gpus));
  return need.exclusive ? std::min<std::uint64_t>(fits, 1) : fits;
}

std::uint64_t World::items_per_host(const Need& need, const Offering& offering) const {
  const std::uint64_t fits = fit_count(need, offering.resources, offering.gpus);
  const std::int32_t most =
      model::jobs_max_of(policy.pools[offering.pool], policy.types[offering.type]);
  return std::min(fits, static_cast<std::uint64_t>(most));
}

model::Micros World::price_of_part(const Demand& of, const HostView& host) const {
  return demand::price_of_part(host.price_per_hour, demand::held_by(of.view->shape, host.total),
                               host.total, host.jobs_max);
}

model::Micros World::price_of_part(const Demand& of, const Offering& offering) const {
  return price_of_part(demand::held_by(of.view->shape, offering.resources), offering);
}

model::Micros World::price_of_part(const model::Resources& item, const Offering& offering) const {
  return demand::price_of_part(
      offering.price_per_hour, item, offering.resources,
      model::jobs_max_of(policy.pools[offering.pool], policy.types[offering.type]));
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
