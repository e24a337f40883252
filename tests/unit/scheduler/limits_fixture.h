#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "core/demand/lane_caps.h"
#include "core/demand/shares.h"
#include "core/demand/turns.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {

inline constexpr demand::PrincipalId kAnn = 0, kBob = 1;

/// A queue, and a site whose plans see it.
struct LimitsTest : testing::Test {
  demand::ClassId cls(model::Vcpus vcpus, std::int32_t priority = 0, std::int32_t gpus = 0) {
    model::WorkShape shape;
    shape.needs = {.vcpus = vcpus, .gpus = gpus, .ram = kGiB, .scratch = 0};
    shape.priority = priority;
    return queue.intern(shape);
  }
  demand::ClassId lease_cls(model::Vcpus vcpus) {
    site.pool().leases.emplace();
    model::WorkShape shape;
    shape.needs = {.vcpus = vcpus, .gpus = 0, .ram = kGiB, .scratch = 0};
    shape.exclusive = true;
    return queue.intern(shape, model::WorkKind::kLease);
  }
  void push(demand::ClassId to, demand::PrincipalId principal, int count = 1) {
    for (int i = 0; i < count; ++i) {
      ++arrival;
      queue.push(to, {.arrival = arrival, .work = {arrival, queue.at(to).kind}, .since = Mono{}},
                 principal);
    }
  }
  void limit_vcpus(demand::PrincipalId principal, model::Vcpus vcpus) {
    queue.set_allowance(principal, {.vcpus = vcpus, .price_per_hour = {}});
  }
  void limit_gpus(demand::PrincipalId principal, std::int64_t gpus) {
    queue.set_allowance(principal, {.gpus = gpus});
  }
  void limit_price(demand::PrincipalId principal, std::int64_t price) {
    queue.set_allowance(principal, {.vcpus = {}, .price_per_hour = model::Micros{price}});
  }
  [[nodiscard]] demand::LaneCaps caps() const {
    const auto parts = [&](demand::ClassId cls) {
      const demand::Queue::Class& of = queue.at(cls);
      std::optional<demand::PartRange> out;
      for (const Offering& o : site.snapshot.offerings) {
        if (!of.shape.needs.fits_in(o.resources)) continue;
        const auto& held = demand::held_by(of.shape, o.resources);
        const auto part = demand::price_of_part(
            o.price_per_hour, held, o.resources,
            model::jobs_max_of(site.policy.pools[o.pool], site.policy.types[o.type]));
        const auto amounts = model::Amounts::of(held, part);
        if (!out) out = {amounts, amounts};
        out->add(amounts);
      }
      if (const auto at = from.find(cls); out && at != from.end()) out->from = at->second;
      return out;
    };
    return demand::cap_lanes(queue, {.parts = parts, .is_stuck = [&](demand::ClassId of) {
                                       return stuck.contains(of);
                                     }});
  }
  Plan plan() {
    site.snapshot.classes = demand::views_by_turns(queue, 1, caps());
    site.snapshot.has_limits = queue.has_limits();
    return site.plan();
  }
  /// Items of the class that a plan sees, whoever's they are.
  std::uint64_t seen(demand::ClassId of) {
    std::uint64_t out = 0;
    for (const demand::ClassView& view : demand::views_by_turns(queue, 1, caps()))
      if (view.id == of) out += view.count;
    return out;
  }
  static bool any(const demand::Queue::Class&) { return true; }

  Site site;
  demand::Queue queue;
  std::set<demand::ClassId> stuck;
  std::map<demand::ClassId, model::Micros>
      from;  ///< What the last plan said of parts that can be had.
  std::uint64_t arrival = 0;
};

}  // namespace hostler::scheduler
