#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/base/random.h"
#include "core/demand/shares.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {

using model::Market;

/// A site of any kind, with anything in it that a plan may see. The seed decides.
class RandomWorld : public Site {
 public:
  explicit RandomWorld(std::uint64_t seed) : random(seed) {
    make_policy();
    make_hosts();
    make_classes();
    make_ceilings();
  }

  /// From now on half of the work is leases, some pools do not lend or run no jobs, and some hosts
  /// are lent.
  void lend() {
    for (auto& p : policy.pools) {
      if (random.chance(0.8)) p.leases.emplace();
      if (random.chance(0.1)) p.readiness = model::Readiness::kSsh;
    }
    for (demand::ClassView& c : snapshot.classes) {
      if (random.chance(0.5)) continue;
      c.kind = model::WorkKind::kLease;
      c.shape.exclusive = true;
      if (random.chance(0.5)) c.shape.constraints.pools = {policy.pools.back().name};
    }
    for (HostView& h : snapshot.hosts) {
      if (h.phase != HostPhase::kReady || !random.chance(0.2)) continue;
      h.busy = true, h.takes_work = false, h.free = {}, h.attempts_left = 0;
    }
  }

  /// After lend(): from now on some of the leases are gangs. Some of these may not begin now, want
  /// one zone, or have limits.
  void gather() {
    for (demand::ClassView& c : snapshot.classes) {
      if (c.kind != model::WorkKind::kLease) continue;
      c.shape.lasts = std::chrono::minutes(number(1, 40));
      if (random.chance(0.4)) continue;
      c.count = std::clamp<std::uint64_t>(c.count, 2, 8);
      c.heads.resize(std::min<std::size_t>(c.heads.size(), c.count));
      c.shape.gang = {c.id + 1U, static_cast<std::uint32_t>(c.count), random.chance(0.3)};
      if (random.chance(0.1)) ++c.shape.gang.count;
      if (random.chance(0.1)) c.not_before = snapshot.now + 30s;
      if (!random.chance(0.2)) continue;
      const model::Micros left{number(0, 3000)};
      const model::Vcpus vcpus(static_cast<std::int32_t>(number(2, 80)));
      const std::int64_t gpus = vcpus.whole() % 3 == 0 ? 4 : demand::PriceBound::kAny.gpus;
      c.price = demand::PriceBound({{.left = {left, vcpus, gpus}, .items = c.count}});
    }
    for (HostView& h : snapshot.hosts)
      if (h.phase == HostPhase::kReady && h.busy && h.free == model::Resources{})
        h.lent_until = snapshot.now + std::chrono::minutes(number(0, 40));
  }

  /// From now on most types have cards, of up to three groups, some hosts have lost some of theirs,
  /// and half of the work wants cards.
  void add_cards() {
    for (std::uint32_t t = 0; t < policy.types.size(); ++t) {
      const model::GpuGroups groups = random.chance(0.8) ? some_groups() : model::GpuGroups{};
      for (std::uint32_t o = 0; o < snapshot.offerings.size(); ++o) {
        if (snapshot.offerings[o].type != t) continue;
        snapshot.offerings[o].resources.gpus = 0;
        cards(o, groups);
      }
    }
    for (HostView& h : snapshot.hosts)
      if (h.offering < snapshot.offerings.size()) add_cards(h);
    for (demand::ClassView& c : snapshot.classes) {
      if (random.chance(0.5)) continue;
      c.shape.needs.gpus = static_cast<std::int32_t>(number(1, 3));
      if (random.chance(0.4)) c.shape.constraints.gpu.kind = some_kind();
      if (random.chance(0.2)) c.shape.constraints.gpu.memory = number(1, 40) * kGiB;
    }
  }

  Random random;

 private:
  std::string some_kind() { return std::array{"a100", "l4", "t4"}[random.below(3)]; }

  model::GpuGroups some_groups() {
    model::GpuGroups out;
    for (auto n = number(1, 3); n > 0; --n) {
      model::GpuGroup group;
      group.kind = some_kind();
      group.memory = number(0, 2) * 16 * kGiB;
      const auto is_alike = [&](const auto& other) {
        return other.kind == group.kind && other.memory == group.memory;
      };
      if (std::ranges::any_of(out, is_alike)) continue;
      group.count = static_cast<std::int32_t>(number(1, 4));
      out.push_back(group);
    }
    std::ranges::sort(out);
    return out;
  }

  void add_cards(HostView& h) {
    const Offering& o = snapshot.offerings[h.offering];
    model::GpuGroups groups = o.gpus;
    if (random.chance(0.1))
      for (model::GpuGroup& group : groups)
        if (random.chance(0.5)) --group.count;
    std::erase_if(groups, [](const auto& group) { return group.count == 0; });
    if (groups != o.gpus) h.gpus = groups;
    if (groups.empty() && !o.gpus.empty()) h.takes_work = false;  // It is broken.
    h.total.gpus = h.free.gpus = 0;
    for (const model::GpuGroup& group : groups) h.total.gpus += group.count;
    if (h.free == model::Resources{} && h.attempts_left == 0) return;  // It is lent.
    if (h.busy)
      for (model::GpuGroup& group : groups)
        group.count = static_cast<std::int32_t>(number(0, group.count));
    for (const model::GpuGroup& group : groups) h.free.gpus += group.count;
    if (groups.size() > 1 || h.gpus.size() > 1) h.cards = groups;
  }

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  void make_policy() {
    if (random.chance(0.4)) {
      policy.pools.push_back(pool());
      policy.pools[1].name = "other";
      snapshot.pools.resize(2);
    }
    for (auto& p : policy.pools) {
      p.sizes.max = static_cast<std::int32_t>(number(0, 30));
      p.sizes.min = static_cast<std::int32_t>(number(0, std::min(p.sizes.max, 2)));
      p.sizes.standby = static_cast<std::int32_t>(number(0, 1));
      if (random.chance(0.1)) p.sizes.min = p.sizes.max + 1;
      if (random.chance(0.2)) p.attempts_parallel_max = static_cast<std::int32_t>(number(1, 3));
      if (random.chance(0.2)) p.price_cap_per_hour = {number(100, 800)};
    }
    const auto types = number(1, 8);
    for (std::int64_t i = 0; i < types; ++i) {
      const auto vcpus = static_cast<std::int32_t>(number(1, 16));
      const Market market = random.chance(0.3) ? Market::kSpot : Market::kOnDemand;
      const auto in_pool = static_cast<std::uint32_t>(random.below(policy.pools.size()));
      const auto price = vcpus * number(20, 60);
      const auto zones = number(0, 2);
      type("t" + std::to_string(i), vcpus, number(1, 64), price, market, zones > 0 ? "z1" : "",
           in_pool);
      const auto last = snapshot.offerings.back();
      if (zones == 2) {
        snapshot.offerings.push_back(last);
        snapshot.offerings.back().zone = "z2";
      }
      if (random.chance(0.2)) snapshot.offerings.back().shut = "a gate";
    }
  }

  void make_hosts() {
    const auto count = number(0, 25);
    for (std::int64_t i = 0; i < count; ++i) {
      // Named: compilers differ in the order in which they evaluate arguments.
      const auto any_phase = static_cast<HostPhase>(random.below(4));
      const auto phase = random.chance(0.5) ? HostPhase::kReady : any_phase;
      const auto offering = static_cast<std::uint32_t>(random.below(snapshot.offerings.size()));
      HostView& h = host(static_cast<std::uint64_t>(i) + 1, offering, phase);
      h.created = h.since = snapshot.now - std::chrono::seconds(number(0, 1200));
      if (h.phase == HostPhase::kReady && random.chance(0.5)) {
        const auto used = model::Vcpus::of_thousandths(number(0, h.total.vcpus.thousandths()));
        occupy(h, {.vcpus = used, .gpus = 0, .ram = number(0, h.total.ram), .scratch = 0});
      }
      if (random.chance(0.1)) h.kept = true, h.takes_work = false;
      if (random.chance(0.1)) h.draining = true, h.takes_work = false;
      if (random.chance(0.05)) h.takes_work = false;
      if (random.chance(0.1)) h.unreachable_since = snapshot.now - 11min, h.takes_work = false;
      if (h.phase == HostPhase::kComing && snapshot.offerings[h.offering].market == Market::kSpot)
        h.unfulfilled_spot = random.chance(0.5);
      if (random.chance(0.1)) h.reserved_for = static_cast<demand::ClassId>(random.below(6));
      if (random.chance(0.05)) h.offering = UINT32_MAX;
      if (random.chance(0.2)) h.attempts_left = static_cast<std::int32_t>(number(0, 2));
    }
  }

  void make_classes() {
    std::vector<std::int32_t> priorities;
    for (auto n = number(0, 10); n > 0; --n)
      priorities.push_back(static_cast<std::int32_t>(number(-1, 2)));
    std::sort(priorities.rbegin(), priorities.rend());
    for (const auto priority : priorities) {
      // Parts of vcpus, and now and then jobs that need nothing.
      const auto vcpus = random.chance(0.3)
                             ? model::Vcpus::of_thousandths(number(0, 72) * 250)
                             : model::Vcpus(static_cast<std::int32_t>(number(1, 18)));
      const bool needs_nothing = random.chance(0.05);
      const std::chrono::seconds waited(number(0, 1200));
      const std::int64_t ram = needs_nothing ? 0 : number(1, 40);
      const auto count = static_cast<std::uint64_t>(number(1, random.chance(0.1) ? 90 : 6));
      const demand::ClassId cls =
          jobs(count, needs_nothing ? model::Vcpus() : vcpus, ram, priority, waited);
      auto& c = constraints(cls);
      if (random.chance(0.1)) c.zone = "z1";
      if (random.chance(0.1)) c.market = Market::kSpot;
      if (random.chance(0.1)) c.types = {"t0", "t1"};
    }
    arrivals = 1000;
  }

  void make_ceilings() {
    const auto some = [&](gates::Headroom& room) {
      if (random.chance(0.3)) room.instances = number(0, 5);
      if (random.chance(0.2)) room.creates = number(0, 5);
      if (random.chance(0.2)) room.destroys = number(0, 3);
      if (random.chance(0.2)) room.price_per_hour = model::Micros{number(0, 2000)};
    };
    some(snapshot.site);
    for (auto& room : snapshot.sets) some(room);
    for (auto& room : snapshot.pools) some(room);
  }
};

}  // namespace hostler::scheduler
