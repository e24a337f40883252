#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/units.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/lacks.h"
#include "core/scheduler/price_rule.h"
#include "core/scheduler/room.h"
#include "core/scheduler/steps.h"

namespace hostler::scheduler {
namespace {

using model::WaitingCode;

/// Bounds of a plan's memory: classes, offerings of each class, cheaper types of each create.
constexpr std::size_t kClassesExplained = 64, kRejectedOfClass = 16, kPassedOver = 3;

std::string money(model::Micros m) {
  std::string cents = std::to_string(m.value % 1'000'000 / 100);
  cents.insert(0, 4 - std::min<std::size_t>(4, cents.size()), '0');
  return std::to_string(m.value / 1'000'000) + "." + cents;
}

/// Why the offering's market is not bought: no spot any more, or not yet on_demand; or empty.
std::string market_obstacle(const World& world, const Demand& demand, const Offering& o) {
  if (o.market == model::Market::kSpot)
    return may_be_spot(world.needs[demand.need]) ? "" : "spot was asked for in vain";
  if (may_be_on_demand(world, demand, o.pool)) return {};
  return "spot is tried first for " +
         format_duration(patience_with_spot(world.needs[demand.need], world.policy.pools[o.pool]));
}

/// Why the demand may not go there at all. A type of its constraints may have left the menu since
/// it was submitted.
std::string unmet(const World& world, const Demand& demand, const Offering& o) {
  const model::Constraints& constraints = demand.view->shape.constraints;
  const model::WorkKind kind = demand.view->kind;
  if (std::string pool = unmet_by_pool(kind, constraints, world.policy.pools[o.pool]);
      !pool.empty())
    return pool;
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(world.policy.types, name, &model::InstanceType::name) !=
           world.policy.types.end();
  };
  if (constraints.types.empty() || std::ranges::any_of(constraints.types, is_there))
    return std::string("not what the ") + noun_of(kind) + "'s constraints allow";
  return std::string("not the ") + noun_of(kind) + "'s type: this site has no " +
         constraints.types.front() + " any more";
}

/// Why the price factor forbids the offering for `jobs` of the demand on one host; or empty.
std::string too_dear(const World& world, const Demand& demand, const Offering& o,
                     std::uint64_t jobs) {
  if (!is_too_dear(world, world.needs[demand.need], o, jobs)) return {};
  return "price " + money(o.price_per_hour) + " is over price_factor_max times the cheapest fit" +
         (jobs == 1 ? "" : ", for the " + std::to_string(jobs) + " jobs that would share it");
}

/// Why the limits of the principals of a priced demand forbid the offering; or empty.
std::string beyond_limit(const World& world, const Demand& demand, const Offering& o) {
  if (world.affordable(demand, o, 1) > 0) return {};
  const model::Amounts part = world.part_of(demand, o);
  const demand::PriceBound& bound = world.prices[demand.price];
  if (bound.count({part.price_per_hour, part.vcpus}, 1) > 0)
    return "it has " + std::to_string(part.gpus) +
           " gpus, more than running_gpus_max of its user leaves";
  if (bound.count({part.price_per_hour}, 1) > 0)
    return "it has " + to_string(part.vcpus) +
           " vcpus, more than running_vcpus_max of its user leaves";
  return std::string(demand.view->shape.exclusive ? "it costs " : "a job's part of it costs ") +
         money(part.price_per_hour) +
         " per hour, more than running_price_per_hour_max of its user leaves";
}

/// Why the offering is not bought for `items` of the demand, gates and headroom aside; or empty.
std::string obstacle_to_buy(const World& world, const Demand& demand, std::uint32_t index,
                            std::uint64_t items) {
  std::string no = obstacle(world, demand, index);
  if (!no.empty()) return no;
  const Offering& o = world.snapshot.offerings[index];
  no = beyond_limit(world, demand, o);
  if (!no.empty()) return no;
  return too_dear(world, demand, o, sharing(world, world.needs[demand.need], o, items));
}

/// Waiting::part_from.
std::optional<model::Micros> part_from(const World& world, const Demand& demand) {
  const Need& need = world.needs[demand.need];
  std::optional<model::Micros> out;
  for (const std::uint32_t i : world.offers) {
    const Offering& o = world.snapshot.offerings[i];
    if (!o.shut.empty() || !need.resources.fits_in(o.resources) || !world.meets(need, i) ||
        world.budget.creates(o, 1) == 0 || !obstacle(world, demand, i).empty() ||
        is_too_dear(world, need, o, sharing(world, need, o, demand.uncovered)))
      continue;
    const auto part = world.price_of_part(demand, o);
    if (!out || part < *out) out = part;
  }
  return out;
}

/// Work asks for such a type. Some of its cards are of the right kind, or none are wished for.
bool is_asked_for(const World& world, const Need& need, std::uint32_t index) {
  if (!world.meets_but_cards(need, index)) return false;
  const auto is_wished = [&](const model::GpuGroup& group) { return need.wish().meets(group); };
  return need.wish() == model::GpuWish{} ||
         std::ranges::any_of(world.snapshot.offerings[index].gpus, is_wished);
}

/// Whether why `next` is not bought says more of the need than why `known` is not, which is
/// cheaper. A type that would hold the job says most, then one that it asks for and that is too
/// small; of those the largest.
bool says_more(const World& world, const Need& need, std::uint32_t next, std::uint32_t known) {
  enum Says { kNothing, kHoldsUnasked, kIsAskedFor, kHolds };
  const auto says = [&](std::uint32_t i) {
    const bool fits = need.resources.fits_in(world.snapshot.offerings[i].resources);
    if (fits && world.meets(need, i)) return kHolds;
    if (is_asked_for(world, need, i)) return kIsAskedFor;
    return fits ? kHoldsUnasked : kNothing;
  };
  return says(next) > says(known) || (says(next) == says(known) && says(known) != kHoldsUnasked);
}

/// A host that has room for an item, but for its cards: "; h-3: 0 of 1 gpus free", "; h-3: its 2
/// free cards are of different kinds"; empty: there is none.
std::string cards_in_the_way(const World& world, const Need& need) {
  const std::int32_t count = need.resources.gpus;
  if (count == 0) return {};
  model::Resources rest = need.resources;
  rest.gpus = 0;
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = world.snapshot.hosts[h];
    if (host.phase != HostPhase::kReady || !host.takes_work || host.attempts_left <= 0 ||
        need.exclusive || !rest.fits_in(host.free) || !world.meets(need, host))
      continue;
    const std::string its = "; " + host.id.text() + ": ";
    if (host.free.gpus < count)
      return its + std::to_string(host.free.gpus) + " of " + std::to_string(count) + " gpus free";
    if (!host.cards.empty() && !HostRoom::of(host).holds(need))
      return its + lacks_cards(host.cards, need.wish(), count);
  }
  return {};
}

/// Why no host comes for the items that are on none: sets code and reason.
void explain_uncovered(const World& world, const Demand& demand, Waiting& out) {
  const auto set = [&out](WaitingCode code, std::string reason) {
    out.code = code;
    out.reason = std::move(reason);
  };
  const Need& need = world.needs[demand.need];
  std::uint32_t refused = kNone, shut = kNone, beyond = kNone;
  std::string ceiling;
  for (const std::uint32_t i : world.offers) {  // Cheapest first: the first obstacle of each kind.
    const Offering& o = world.snapshot.offerings[i];
    const bool holds = need.resources.fits_in(o.resources) && world.meets(need, i);
    if (!holds || !obstacle_to_buy(world, demand, i, demand.uncovered).empty()) {
      if (refused == kNone || says_more(world, need, i, refused)) refused = i;
      if (holds && beyond == kNone && obstacle(world, demand, i).empty() &&
          !beyond_limit(world, demand, o).empty())
        beyond = i;
    } else if (!o.shut.empty()) {
      if (shut == kNone) shut = i;
    } else if (world.budget.creates(o, 1, &ceiling) == 0) {
      break;
    }
  }
  const auto named = [&](std::uint32_t i, const std::string& text) {
    return world.policy.types[world.snapshot.offerings[i].type].name + ": " + text;
  };
  if (!ceiling.empty()) {
    set(WaitingCode::kAtCeiling, ceiling + cards_in_the_way(world, need));
  } else if (shut != kNone) {
    set(WaitingCode::kGateShut,
        named(shut, world.snapshot.offerings[shut].shut) + cards_in_the_way(world, need));
  } else if (beyond != kNone) {
    set(WaitingCode::kQuota,
        named(beyond, beyond_limit(world, demand, world.snapshot.offerings[beyond])));
  } else if (refused != kNone) {
    set(WaitingCode::kNoOffering,
        named(refused, obstacle_to_buy(world, demand, refused, demand.uncovered)));
  } else {
    set(WaitingCode::kNoOffering, "no pool offers any type");
  }
}

/// Why the items that are counted on hosts have none yet.
std::string host_comes(const World& world, const Demand& demand) {
  std::string out = "a host for it is coming";
  if (demand.on_unseen == 0 || demand.on_unseen < demand.waiting() - demand.uncovered) return out;
  const HostView& host = world.snapshot.hosts[demand.unseen];
  out += ", " + host.id.text() + ", and no list shows it";
  if (host.offering >= world.snapshot.offerings.size()) return out;
  const std::string& shut = world.snapshot.offerings[host.offering].shut;
  return shut.empty() ? out : out + ": " + shut;
}

/// "3 tasks of 4 slots wait: "
std::string tasks_wait(const demand::ClassView& view, std::uint64_t count) {
  const bool is_one = count == 1;
  std::string out = std::to_string(count) + (is_one ? " task" : " tasks");
  if (const std::int32_t slots = view.shape.needs.slots; slots > 0)
    out += " of " + std::to_string(slots) + (slots == 1 ? " slot" : " slots");
  return out + (is_one ? " waits: " : " wait: ");
}

Waiting explain_waiting(const World& world, const Demand& demand) {
  Waiting out{.cls = demand.view->id,
              .code = WaitingCode::kNoOffering,
              .reason = "",
              .is_priced = demand.price != kNone};
  if (world.snapshot.has_limits) out.part_from = part_from(world, demand);
  if (demand.uncovered > 0) explain_uncovered(world, demand, out);
  if (demand.view->kind == model::WorkKind::kTask && demand.uncovered > 0)
    out.reason = tasks_wait(*demand.view, demand.uncovered) + out.reason;
  if (demand.uncovered == demand.waiting()) return out;
  if (demand.uncovered > 0) {
    out.rest_code = out.code;
    out.rest_reason = std::move(out.reason);
  }
  out.code = WaitingCode::kHostComing;
  out.reason = host_comes(world, demand);
  return out;
}

/// The cheaper types that were not chosen, and the reasons, except ceilings. A type that fits but
/// would cost more for all these items together is left out.
std::string passed_over(const World& world, const Demand& demand, const Offering& bought,
                        std::uint64_t items) {
  std::string out;
  std::vector<std::uint32_t> told;
  for (const std::uint32_t i : world.offers) {
    const Offering& o = world.snapshot.offerings[i];
    if (o.price_per_hour >= bought.price_per_hour || told.size() == kPassedOver) break;
    if (std::find(told.begin(), told.end(), o.type) != told.end()) continue;  // another zone
    std::string no = obstacle_to_buy(world, demand, i, items);
    if (no.empty()) no = o.shut;
    if (no.empty()) continue;
    told.push_back(o.type);
    out.append(out.empty() ? "" : "; ").append(world.policy.types[o.type].name + ": " + no);
  }
  return out;
}

void explain_creates(const World& world, Plan& plan) {
  std::map<std::tuple<demand::ClassId, std::uint32_t, std::uint64_t>, std::string> known;
  for (Create& create : plan.creates) {
    if (!create.for_class) continue;
    const std::uint32_t d = world.find(*create.for_class);
    if (d == kNone) continue;
    std::uint64_t items = 0;
    for (const demand::Load& load : create.load) items += load.count;
    const auto [at, fresh] = known.try_emplace({*create.for_class, create.offering, items});
    if (fresh)
      at->second =
          passed_over(world, world.demand[d], world.snapshot.offerings[create.offering], items);
    create.passed_over = at->second;
  }
}

}  // namespace

std::string obstacle(const World& world, const Demand& demand, std::uint32_t index) {
  const Need& need = world.needs[demand.need];
  const Offering& o = world.snapshot.offerings[index];
  const auto& pool = world.policy.pools[o.pool];
  if (!world.meets_but_cards(need, index)) return unmet(world, demand, o);
  if (std::string lack = lacks(need.resources, need.wish(), o); !lack.empty()) return lack;
  if (world.bounds[o.pool].is_held)
    return "pool " + pool.name + " is held: its policy contradicts itself";
  if (!within_cap(o, world.policy))
    return "price " + money(o.price_per_hour) + " is above the cap " +
           money(pool.price_cap_per_hour);
  return market_obstacle(world, demand, o);
}

void explain(const World& world, Plan& plan) {
  explain_creates(world, plan);
  std::size_t explained = 0;
  std::vector<const Demand*> told(world.needs.size(), nullptr);
  std::vector<std::size_t> told_at(world.needs.size());
  for (const Demand& demand : world.demand) {
    if (demand.waiting() == 0) continue;
    // Classes that differ only in priority wait for the same reason, except for spot patience.
    const Demand* alike = told[demand.need];
    const bool same =
        alike != nullptr && !world.needs[demand.need].has_spot && demand.price == kNone &&
        (alike->uncovered > 0) == (demand.uncovered > 0) &&
        (alike->uncovered < alike->waiting()) == (demand.uncovered < demand.waiting());
    Waiting waiting = same ? plan.waiting[told_at[demand.need]] : explain_waiting(world, demand);
    waiting.cls = demand.view->id;
    for (const Reserve& r : plan.reservations)
      if (r.cls == demand.view->id) {
        waiting.code = WaitingCode::kReserved;
        waiting.reason = "it waited long: host " + r.host.text() + " is reserved for it";
      }
    if (waiting.code != WaitingCode::kReserved && demand.price == kNone) {
      told[demand.need] = &demand;
      told_at[demand.need] = plan.waiting.size();
    }
    plan.waiting.push_back(std::move(waiting));
    if (demand.uncovered == 0 || ++explained > kClassesExplained) continue;
    std::size_t listed = 0;
    for (const std::uint32_t i : world.offers) {
      std::string no = obstacle_to_buy(world, demand, i, demand.uncovered);
      if (no.empty()) no = world.snapshot.offerings[i].shut;
      if (no.empty()) (void)world.budget.creates(world.snapshot.offerings[i], 1, &no);
      if (no.empty()) continue;
      plan.rejected.push_back({demand.view->id, i, std::move(no)});
      if (++listed == kRejectedOfClass) break;
    }
  }
}

}  // namespace hostler::scheduler
