#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "core/scheduler/fit.h"
#include "core/scheduler/plan.h"
#include "tests/unit/scheduler/random_world.h"

namespace hostler::scheduler {

/// It is created to be switched off: where created bounds are said, it needs no room below the
/// maximum of started hosts.
inline bool comes_as_standby(const Create& create) {
  return !create.for_class && create.reason.find("switched-off") != std::string::npos;
}

/// What each plan promises, whatever it is made of.
class Checker {
 public:
  Checker(const Site& site, const Plan& plan) : site_(site), plan_(plan) {
    for (const HostView& h : site.snapshot.hosts) hosts_[h.id] = &h;
    for (const demand::ClassView& c : site.snapshot.classes) classes_[c.id] = &c;
  }
  void all() const {
    placements();
    creates();
    whole_hosts();
    shutdowns();
    waiting();
    reservations();
  }

 private:
  /// Switched-off hosts may not count for the maximum if some source says more of bounds.
  [[nodiscard]] bool is_off_and_does_not_count(const HostView& h) const {
    const auto& bounds = site_.snapshot.bounds;
    return h.phase == HostPhase::kStopped && h.pool < bounds.size() && !bounds[h.pool].empty();
  }
  [[nodiscard]] bool has_created(std::uint32_t pool) const {
    return numbers_of(site_.policy, site_.snapshot.bounds, {}, {}, pool).has_created;
  }
  void placements() const {
    std::map<model::InstanceId, model::Resources> used;
    std::map<model::InstanceId, std::int64_t> attempts;
    std::map<demand::ClassId, std::uint64_t> taken;
    for (const Place& p : plan_.places) {
      const HostView& h = *hosts_.at(p.host);
      const demand::ClassView& c = *classes_.at(p.cls);
      EXPECT_TRUE(h.phase == HostPhase::kReady && h.takes_work) << "on " << p.host.text();
      EXPECT_TRUE(takes(site_.policy.pools[h.pool], c.kind)) << "on " << p.host.text();
      for (std::uint32_t i = 0; i < p.count; ++i) used[p.host] += c.shape.needs;
      attempts[p.host] += p.count;
      taken[p.cls] += p.count;
      const bool known = h.offering < site_.snapshot.offerings.size();
      const auto& constraints = c.shape.constraints;
      if (known) {
        const Offering& o = site_.snapshot.offerings[h.offering];
        EXPECT_TRUE(!constraints.market || *constraints.market == o.market);
        EXPECT_TRUE(constraints.zone.empty() || constraints.zone == o.zone);
      } else {
        EXPECT_EQ(constraints, model::Constraints{});
      }
    }
    for (const auto& [id, sum] : used)
      EXPECT_TRUE(sum.fits_in(hosts_.at(id)->free)) << "past the free resources of " << id.text();
    for (const auto& [id, n] : attempts) EXPECT_LE(n, hosts_.at(id)->attempts_left);
    for (const auto& [cls, n] : taken) EXPECT_LE(n, classes_.at(cls)->count);
  }

  /// Nothing is on a host with an exclusive item.
  void whole_hosts() const {
    std::map<model::InstanceId, std::uint64_t> items, exclusive;
    const auto add = [&](model::InstanceId host, const demand::Load& load) {
      items[host] += load.count;
      if (classes_.at(load.cls)->shape.exclusive) exclusive[host] += load.count;
    };
    for (const Place& p : plan_.places) add(p.host, {p.cls, p.count});
    for (const Place& p : plan_.covered) add(p.host, {p.cls, p.count});
    for (const Wake& wake : plan_.wakes)
      for (const demand::Load& load : wake.load) add(wake.host, load);
    for (const auto& [id, n] : exclusive) {
      EXPECT_EQ(n, 1U) << id.text();
      EXPECT_EQ(items.at(id), 1U) << id.text();
      EXPECT_FALSE(hosts_.at(id)->busy) << id.text();
    }
    for (const Create& create : plan_.creates)
      for (const demand::Load& load : create.load) {
        const Offering& o = site_.snapshot.offerings[create.offering];
        EXPECT_TRUE(takes(site_.policy.pools[o.pool], classes_.at(load.cls)->kind));
        if (!classes_.at(load.cls)->shape.exclusive) continue;
        EXPECT_EQ(create.load.size(), 1U);
        EXPECT_EQ(load.count, 1U);
      }
  }

  void creates() const {
    std::map<std::uint32_t, std::int64_t> in_pool, in_set, price_pool, price_set, standby;
    std::int64_t price = 0;
    for (const Create& create : plan_.creates) {
      const Offering& o = site_.snapshot.offerings[create.offering];
      EXPECT_EQ(o.shut, "") << "through a shut gate";
      EXPECT_FALSE(create.reason.empty());
      ++in_pool[o.pool], ++in_set[o.set];
      if (has_created(o.pool) && comes_as_standby(create)) ++standby[o.pool];
      price += o.price_per_hour.value;
      price_pool[o.pool] += o.price_per_hour.value;
      price_set[o.set] += o.price_per_hour.value;
      const auto cap = site_.policy.pools[o.pool].price_cap_per_hour.value;
      EXPECT_TRUE(cap == 0 || o.price_per_hour.value <= cap);
    }
    const auto below = [](const gates::Headroom& room, std::int64_t count, std::int64_t money) {
      EXPECT_TRUE(!room.instances || count <= *room.instances);
      EXPECT_TRUE(!room.creates || count <= *room.creates);
      EXPECT_TRUE(!room.price_per_hour || money <= room.price_per_hour->value);
    };
    below(site_.snapshot.site, std::ssize(plan_.creates), price);
    for (const auto& [s, n] : in_set) below(site_.snapshot.sets[s], n, price_set[s]);
    for (const auto& [p, n] : in_pool) {
      below(site_.snapshot.pools[p], n, price_pool[p]);
      const auto there = std::count_if(site_.snapshot.hosts.begin(), site_.snapshot.hosts.end(),
                                       [&, pool = p](const auto& h) {
                                         return h.pool == pool && h.phase != HostPhase::kLeaving &&
                                                !is_off_and_does_not_count(h);
                                       });
      const std::int64_t started = n - standby[p];
      EXPECT_TRUE(started == 0 || !site_.policy.pools[p].sizes.texts.max.empty() ||
                  there + started <= site_.policy.pools[p].sizes.max)
          << "past max";
      EXPECT_LE(site_.policy.pools[p].sizes.min, site_.policy.pools[p].sizes.max)
          << "held pool grows";
    }
  }

  void shutdowns() const {
    std::set<model::InstanceId> seen, in_use;
    for (const Place& p : plan_.places) in_use.insert(p.host);
    for (const Reserve& r : plan_.reservations) in_use.insert(r.host);
    std::map<std::uint32_t, std::int64_t> in_pool;
    for (const Shutdown& s : plan_.shutdowns) {
      const HostView& h = *hosts_.at(s.host);
      const auto& pool = site_.policy.pools[h.pool];
      EXPECT_TRUE(seen.insert(s.host).second) << "twice";
      EXPECT_FALSE(in_use.contains(s.host)) << s.host.text() << " has work or is reserved";
      EXPECT_FALSE(h.kept);
      EXPECT_NE(h.phase, HostPhase::kLeaving);
      EXPECT_LE(pool.sizes.min, pool.sizes.max) << "held pool shrinks";
      EXPECT_FALSE(s.reason.empty());
      ++in_pool[h.pool];
      if (s.code != model::Reason::kUnreachable) {
        EXPECT_FALSE(h.busy) << s.host.text();
      }
      if (s.code == model::Reason::kIdle) {
        EXPECT_GE(site_.snapshot.now - h.since, pool.idle_timeout);
      }
    }
    const auto& site_room = site_.snapshot.site;
    EXPECT_TRUE(!site_room.destroys || std::ssize(plan_.shutdowns) <= *site_room.destroys);
    for (const auto& [p, n] : in_pool) {
      const auto& room = site_.snapshot.pools[p];
      EXPECT_TRUE(!room.destroys || n <= *room.destroys);
    }
  }

  void waiting() const {
    std::map<demand::ClassId, std::uint64_t> taken;
    for (const Place& p : plan_.places) taken[p.cls] += p.count;
    std::set<demand::ClassId> told;
    for (const Waiting& w : plan_.waiting) {
      EXPECT_TRUE(told.insert(w.cls).second);
      EXPECT_FALSE(w.reason.empty());
    }
    for (const auto& [id, c] : classes_)
      EXPECT_EQ(told.contains(id), taken[id] < c->count) << "class " << id;
  }

  void reservations() const {
    std::set<model::InstanceId> hosts;
    for (const Reserve& r : plan_.reservations) {
      EXPECT_TRUE(hosts.insert(r.host).second);
      EXPECT_TRUE(classes_.at(r.cls)->shape.needs.fits_in(hosts_.at(r.host)->total));
    }
  }

  const Site& site_;
  const Plan& plan_;
  std::map<model::InstanceId, const HostView*> hosts_;
  std::map<demand::ClassId, const demand::ClassView*> classes_;
};

/// Calls `check` for the seeds 1 to `count`, up to the first that fails; or for HOSTLER_PLAN_SEED.
template <class Check>
void for_each_seed(std::uint64_t count, Check check) {
  std::uint64_t first = 1;
  if (const char* only = std::getenv("HOSTLER_PLAN_SEED")) {
    first = std::strtoull(only, nullptr, 10);
    count = 1;
  }
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("HOSTLER_PLAN_SEED=" + std::to_string(seed));
    check(seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace hostler::scheduler
