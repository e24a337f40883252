#include "core/scheduler/fit.h"

#include <algorithm>
#include <tuple>

#include "core/demand/shares.h"
#include "core/scheduler/lacks.h"
#include "core/scheduler/plan.h"
#include "core/scheduler/price_rule.h"

namespace hostler::scheduler {
namespace {

/// Why a pool does not take such work.
const char* refusal_of(model::WorkKind kind) {
  switch (kind) {
    case model::WorkKind::kLease:
      return " does not lend hosts";
    case model::WorkKind::kTask:
      return " has no outside scheduler";
    default:
      return " runs no jobs";
  }
}

const std::string& type_name(const Offering& o, const model::SitePolicy& policy) {
  return policy.types[o.type].name;
}

bool may_go(const model::WorkShape& shape, model::WorkKind kind, const Offering& o,
            const model::SitePolicy& policy) {
  return meets(kind, shape.constraints, policy.pools[o.pool], type_name(o, policy), o.zone,
               o.market);
}

/// The constraint that the offering does not meet.
std::string unmet_constraint(model::WorkKind kind, const model::Constraints& wanted,
                             const Offering& o, const model::SitePolicy& policy) {
  if (std::string pool = unmet_by_pool(kind, wanted, policy.pools[o.pool]); !pool.empty())
    return pool;
  if (wanted.market && *wanted.market != o.market)
    return std::string("market ") + model::to_string(o.market);
  if (!wanted.zone.empty() && wanted.zone != o.zone)
    return o.zone.empty() ? "no zone of its own" : "zone " + o.zone;
  return "type " + type_name(o, policy);
}

/// Up to three types that lack least, and why each does not fit.
std::string nearest_types(const model::WorkShape& shape, model::WorkKind kind,
                          const std::vector<Offering>& offerings, const model::SitePolicy& policy) {
  struct Near {
    double far;
    std::string text;
    auto operator<=>(const Near&) const = default;
  };
  std::vector<Near> near;
  for (const Offering& o : offerings) {
    if (!is_valid(o, policy)) continue;
    const std::string& name = type_name(o, policy);
    const model::GpuWish& wish = shape.constraints.gpu;
    Near one{distance(shape.needs, wish, o), name + ": "};
    if (const auto lack = all_lacks(shape.needs, wish, o); !lack.empty()) {
      for (const std::string& one_of : lack)
        one.text += (&one_of == lack.data() ? "" : ", ") + one_of;
      one.text += note_for(shape.needs, wish, o);
      if (!may_go(shape, kind, o, policy)) one.far += 10;
    } else if (!takes(policy.pools[o.pool], kind)) {
      one.text += unmet_constraint(kind, shape.constraints, o, policy);
      one.far += 10;
    } else if (!may_go(shape, kind, o, policy)) {
      one.text += "not what the constraints ask for: " +
                  unmet_constraint(kind, shape.constraints, o, policy);
      one.far += 10;
    } else {
      one.text += "dearer than pool " + policy.pools[o.pool].name + " allows";
    }
    near.push_back(std::move(one));
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::string out;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i) out += (i > 0 ? "; " : "") + near[i].text;
  return out.empty() ? "no pool offers any type" : out;
}

}  // namespace

bool takes(const model::PoolPolicy& pool, model::WorkKind kind) {
  using enum model::WorkKind;
  if (pool.pushed || kind == kTask) return pool.pushed.has_value() && kind == kTask;
  switch (kind) {
    case kJob:
      return pool.readiness == model::Readiness::kAgent;
    case kLease:
      return pool.leases.has_value();
    default:
      return true;
  }
}

const char* noun_of(model::WorkKind kind) {
  switch (kind) {
    case model::WorkKind::kJob:
      return "job";
    case model::WorkKind::kLease:
      return "lease";
    case model::WorkKind::kReservation:
      return "reservation";
    case model::WorkKind::kTask:
      return "task";
  }
  return "work";
}

std::string unmet_by_pool(model::WorkKind kind, const model::Constraints& constraints,
                          const model::PoolPolicy& pool) {
  if (!takes(pool, kind)) return "pool " + pool.name + refusal_of(kind);
  const auto& pools = constraints.pools;
  if (pools.empty() || std::ranges::find(pools, pool.name) != pools.end()) return {};
  return "pool " + pool.name + " is not one that it may use";
}

bool meets(model::WorkKind kind, const model::Constraints& constraints,
           const model::PoolPolicy& pool, const std::string& type_name, const std::string& zone,
           model::Market market) {
  const auto& pools = constraints.pools;
  if (!takes(pool, kind)) return false;
  if (!pools.empty() && std::ranges::find(pools, pool.name) == pools.end()) return false;
  if (constraints.market && *constraints.market != market) return false;
  if (!constraints.zone.empty() && constraints.zone != zone) return false;
  return constraints.types.empty() || std::find(constraints.types.begin(), constraints.types.end(),
                                                type_name) != constraints.types.end();
}

bool fits(const model::WorkShape& shape, model::WorkKind kind, const Offering& o,
          const model::SitePolicy& policy) {
  return shape.needs.fits_in(o.resources) && may_go(shape, kind, o, policy) &&
         model::has_cards(o.gpus, shape.constraints.gpu, shape.needs.gpus);
}

bool is_valid(const Offering& offering, const model::SitePolicy& policy) {
  return offering.pool < policy.pools.size() && offering.set < policy.sets.size() &&
         offering.type < policy.types.size();
}

bool cheaper(const Offering& a, const Offering& b, const model::SitePolicy& policy) {
  if (a.price_per_hour != b.price_per_hour) return a.price_per_hour < b.price_per_hour;
  if (a.market != b.market) return a.market < b.market;
  if (a.resources.gpus != b.resources.gpus) return a.resources.gpus < b.resources.gpus;
  if (a.type != b.type) {
    const int order = type_name(a, policy).compare(type_name(b, policy));
    if (order != 0) return order < 0;
  }
  return std::tie(a.zone, policy.pools[a.pool].name, policy.sets[a.set].name, a.subnet) <
         std::tie(b.zone, policy.pools[b.pool].name, policy.sets[b.set].name, b.subnet);
}

std::uint64_t fit_count(const model::Resources& item, const model::Resources& room) {
  if (!item.fits_in(room)) return 0;
  std::int64_t n = INT32_MAX;
  if (item.vcpus > 0) n = std::min(n, room.vcpus.thousandths() / item.vcpus.thousandths());
  if (item.gpus > 0) n = std::min<std::int64_t>(n, room.gpus / item.gpus);
  if (item.ram > 0) n = std::min(n, room.ram / item.ram);
  if (item.scratch > 0) n = std::min(n, room.scratch / item.scratch);
  if (item.slots > 0) n = std::min<std::int64_t>(n, room.slots / item.slots);
  return static_cast<std::uint64_t>(n);
}

model::Resources times(const model::Resources& r, std::uint64_t n) {
  const auto k = static_cast<std::int64_t>(n);
  return {.vcpus = r.vcpus * k,
          .gpus = static_cast<std::int32_t>(r.gpus * k),
          .ram = r.ram * k,
          .scratch = r.scratch * k,
          .slots = static_cast<std::int32_t>(r.slots * k)};
}

namespace {

/// As far as their number, which HostView::free says, is not enough to know.
bool has_free_cards(const model::WorkShape& shape, const HostView& host,
                    const model::InstanceType& type) {
  const auto& of_host = host.gpus.empty() ? type.gpu_groups : host.gpus;
  const auto& groups = host.cards.empty() ? of_host : host.cards;
  return model::has_cards(groups, shape.constraints.gpu, shape.needs.gpus);
}

}  // namespace

std::optional<demand::ClassId> pick_next(const demand::Queue& queue, const HostView& host,
                                         const model::PoolPolicy& pool,
                                         const model::InstanceType& type, const std::string& zone,
                                         model::Market market) {
  if (!host.takes_work || host.attempts_left <= 0 || host.drain != DrainPhase::kNone)
    return std::nullopt;
  const auto may_run = [&](const demand::Queue::Class& cls) {
    return meets(cls.kind, cls.shape.constraints, pool, type.name, zone, market) &&
           has_free_cards(cls.shape, host, type) && !(cls.shape.exclusive && host.busy) &&
           cls.shape.gang.count == 0;
  };
  const auto price = [&](const demand::Queue::Class& cls) {
    return demand::price_of_part(host.price_per_hour, demand::held_by(cls.shape, host.total),
                                 host.total, host.jobs_max);
  };
  if (!host.reserved_for) return queue.next(may_run, price, host.free);
  const auto* reserved = queue.find(*host.reserved_for);
  if (reserved == nullptr || reserved->count == 0) return std::nullopt;
  // Its principal has reached a limit since the plan: others go on.
  const auto& held = demand::held_by(reserved->shape, host.total);
  if (!queue.has_next(*host.reserved_for, model::Amounts::of(held, price(*reserved))))
    return queue.next(may_run, price, host.free);
  return reserved->shape.needs.fits_in(host.free) && may_run(*reserved) ? host.reserved_for
                                                                        : std::nullopt;
}

std::optional<std::uint32_t> cheapest_fit(const model::WorkShape& shape,
                                          const std::vector<Offering>& offerings,
                                          const model::SitePolicy& policy, std::string* nearest,
                                          model::WorkKind kind) {
  const Offering* best = nullptr;
  for (const Offering& o : offerings) {
    if (best != nullptr && best->price_per_hour < o.price_per_hour) continue;
    if (!is_valid(o, policy) || !may_come_within_cap(o, policy) || !fits(shape, kind, o, policy))
      continue;
    if (best == nullptr || cheaper(o, *best, policy)) best = &o;
  }
  if (best != nullptr) return static_cast<std::uint32_t>(best - offerings.data());
  if (nearest != nullptr) *nearest = nearest_types(shape, kind, offerings, policy);
  return std::nullopt;
}

}  // namespace hostler::scheduler
