#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/demand/shares.h"
#include "core/scheduler/plan.h"

namespace hostler::scheduler {

using namespace std::chrono_literals;

inline constexpr std::int64_t kMiB = std::int64_t{1} << 20, kGiB = std::int64_t{1} << 30;

/// A small site for tests of plans: one set, one pool, types and hosts added by name.
struct Site {
  model::SitePolicy policy;
  Snapshot snapshot;
  std::uint64_t arrivals = 0;

  Site() {
    policy.sets.resize(1);
    policy.sets[0].name = "west";
    policy.pools.resize(1);
    pool().name = "default";
    pool().sizes.max = 1000;
    snapshot.now = Mono(1h);
    snapshot.sets.resize(1);
    snapshot.pools.resize(1);
  }
  model::PoolPolicy& pool(std::size_t i = 0) { return policy.pools[i]; }

  /// Returns the offering's index.
  std::uint32_t type(const std::string& name, std::int32_t vcpus, std::int64_t gib,
                     std::int64_t price, model::Market market = model::Market::kOnDemand,
                     const std::string& zone = "", std::uint32_t in_pool = 0) {
    model::InstanceType t;
    t.name = name;
    t.resources = {.vcpus = vcpus, .gpus = 0, .ram = gib * kGiB, .scratch = 0};
    t.price_per_hour = {price};
    t.market = market;
    policy.types.push_back(t);
    Offering o;
    o.pool = in_pool;
    o.type = static_cast<std::uint32_t>(policy.types.size() - 1);
    o.zone = zone;
    o.market = market;
    o.resources = t.resources;
    o.price_per_hour = t.price_per_hour;
    snapshot.offerings.push_back(o);
    return static_cast<std::uint32_t>(snapshot.offerings.size() - 1);
  }
  /// The cards of a type that has just been added. Returns its offering's index.
  std::uint32_t cards(std::uint32_t offering, const model::GpuGroups& groups) {
    Offering& o = snapshot.offerings[offering];
    model::InstanceType& t = policy.types[o.type];
    o.gpus = t.gpu_groups = groups;
    for (const model::GpuGroup& group : groups) o.resources.gpus += group.count;
    t.resources.gpus = o.resources.gpus;
    return offering;
  }
  /// A host that has been ready and idle for one second.
  HostView& host(std::uint64_t id, std::uint32_t offering, HostPhase phase = HostPhase::kReady) {
    const Offering& o = snapshot.offerings[offering];
    HostView h;
    h.id = {id};
    h.offering = offering;
    h.pool = o.pool;
    h.phase = phase;
    h.takes_work = phase == HostPhase::kReady;
    h.total = h.free = o.resources;
    if (o.gpus.size() > 1) h.cards = o.gpus;
    h.price_per_hour = o.price_per_hour;
    h.created = h.since = snapshot.now - 1s;
    snapshot.hosts.push_back(h);
    return snapshot.hosts.back();
  }
  /// A spot request that has waited too long, so that spot is given up.
  HostView& request_in_vain(std::uint64_t id, std::uint32_t offering) {
    HostView& h = host(id, offering, HostPhase::kComing);
    h.unfulfilled_spot = true;
    h.created = h.since = snapshot.now - 10min;
    return h;
  }
  /// Adds `count` jobs, which arrive one after the other. Returns the id of their class.
  demand::ClassId jobs(std::uint64_t count, model::Vcpus vcpus, std::int64_t gib = 1,
                       std::int32_t priority = 0, Duration waited = 1s) {
    demand::ClassView c;
    c.id = static_cast<demand::ClassId>(snapshot.classes.size());
    c.shape.needs = {.vcpus = vcpus, .gpus = 0, .ram = gib * kGiB, .scratch = 0};
    c.shape.priority = priority;
    c.count = count;
    for (std::uint64_t i = 0; i < count && i < 32; ++i) c.heads.push_back({0, arrivals + i});
    arrivals += count;
    c.oldest = snapshot.now - waited;
    snapshot.classes.push_back(c);
    return c.id;
  }
  /// The same for jobs of one vcpu and some cards each.
  demand::ClassId gpu_jobs(std::uint64_t count, std::int32_t gpus, const model::GpuWish& wish = {},
                           std::int32_t priority = 0, Duration waited = 1s) {
    const demand::ClassId cls = jobs(count, 1, 1, priority, waited);
    snapshot.classes.back().shape.needs.gpus = gpus;
    constraints(cls).gpu = wish;
    return cls;
  }
  /// The same for leases, which get whole hosts. All pools lend from then on.
  demand::ClassId leases(std::uint64_t count, model::Vcpus vcpus, std::int64_t gib = 1,
                         std::int32_t priority = 0, Duration waited = 1s) {
    for (auto& p : policy.pools) p.leases.emplace();
    const demand::ClassId cls = jobs(count, vcpus, gib, priority, waited);
    snapshot.classes.back().kind = model::WorkKind::kLease;
    snapshot.classes.back().shape.exclusive = true;
    return cls;
  }
  model::Constraints& constraints(demand::ClassId cls) {
    return snapshot.classes[cls].shape.constraints;
  }
  void occupy(HostView& h, const model::Resources& used, const model::GpuWish& wish = {}) {
    if (!h.cards.empty()) model::take_cards(h.cards, wish, used.gpus, 1);
    h.free -= used;
    h.busy = true;
  }
  [[nodiscard]] Plan plan() const { return make_plan(snapshot, policy); }

  /// The class that a gang holds a new host for.
  [[nodiscard]] std::optional<demand::ClassId> holder(const std::vector<demand::Load>& load) const {
    for (const demand::ClassView& c : snapshot.classes)
      if (c.shape.gang.count > 0 && !load.empty() && load.front().cls == c.id) return c.id;
    return std::nullopt;
  }
  void place(const Place& p, demand::ClassView& c) {
    c.count -= p.count;
    c.oldest = snapshot.now;  // the next job is newer
    c.heads.erase(c.heads.begin(),
                  c.heads.begin() + std::min<std::ptrdiff_t>(p.count, std::ssize(c.heads)));
    for (HostView& h : snapshot.hosts)
      if (h.id == p.host)
        for (std::uint32_t i = 0; i < p.count; ++i) {
          if (c.shape.exclusive) h.takes_work = false, h.cards.clear();
          occupy(h, model::Resources{demand::held_by(c.shape, h.free)}, c.shape.constraints.gpu);
          if (h.attempts_left < INT32_MAX) --h.attempts_left;
        }
  }
  /// Applies a plan as the kernel would. Placed jobs leave the queue. Hosts are created, shut down
  /// and switched on or off at once.
  void apply(const Plan& plan) {
    for (HostView& h : snapshot.hosts) h.reserved_for.reset();
    for (const Place& p : plan.places)
      for (demand::ClassView& c : snapshot.classes)
        if (c.id == p.cls) place(p, c);
    for (const Create& create : plan.creates) {
      std::uint64_t id = 1000 + snapshot.hosts.size();
      for (const HostView& other : snapshot.hosts) id = std::max(id, other.id.value + 1);
      HostView& h = host(id, create.offering, HostPhase::kComing);
      h.created = h.since = snapshot.now;
      h.can_stop = snapshot.offerings[create.offering].can_stop;
      h.load = create.load;
      h.reserved_for = holder(create.load);
    }
    for (const Wake& wake : plan.wakes)
      for (HostView& h : snapshot.hosts)
        if (h.id == wake.host) h.reserved_for = holder(wake.load);
    for (const Shutdown& s : plan.shutdowns)
      for (HostView& h : snapshot.hosts)
        if (h.id == s.host) h.phase = HostPhase::kLeaving;
    for (HostView& h : snapshot.hosts) {
      const auto is_it = [&](const auto& one) { return one.host == h.id; };
      if (std::ranges::any_of(plan.drains, is_it))
        h.drain = DrainPhase::kUnderWay, h.takes_work = false;
      if (std::ranges::any_of(plan.switch_offs, is_it))
        h.phase = HostPhase::kStopped, h.drain = DrainPhase::kNone;
      if (std::ranges::any_of(plan.wakes, is_it)) h.phase = HostPhase::kComing;
      h.can_wake = h.phase == HostPhase::kStopped;
    }
    for (const Reserve& r : plan.reservations)
      for (HostView& h : snapshot.hosts)
        if (h.id == r.host) h.reserved_for = r.cls;
    std::erase_if(snapshot.classes, [](const demand::ClassView& c) { return c.count == 0; });
  }
};

inline std::uint64_t placed(const Plan& plan, demand::ClassId cls) {
  std::uint64_t n = 0;
  for (const Place& p : plan.places) n += p.cls == cls ? p.count : 0;
  return n;
}
inline std::uint64_t placed_on(const Plan& plan, std::uint64_t host) {
  std::uint64_t n = 0;
  for (const Place& p : plan.places) n += p.host.value == host ? p.count : 0;
  return n;
}
/// Offerings, by their indices.
inline std::vector<std::uint32_t> bought(const Plan& plan) {
  std::vector<std::uint32_t> out;
  for (const Create& c : plan.creates) out.push_back(c.offering);
  return out;
}
inline std::vector<std::pair<std::uint64_t, model::Reason>> ended(const Plan& plan) {
  std::vector<std::pair<std::uint64_t, model::Reason>> out;
  for (const Shutdown& s : plan.shutdowns) out.emplace_back(s.host.value, s.code);
  return out;
}

}  // namespace hostler::scheduler
