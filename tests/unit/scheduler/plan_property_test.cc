// Random worlds: whatever the plan does in them, its promises hold. Replay one with
// HOSTLER_PLAN_SEED=<seed>.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "core/base/random.h"
#include "core/demand/shares.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/plan.h"
#include "core/scheduler/price_rule.h"
#include "tests/unit/scheduler/random_world.h"

namespace hostler::scheduler {
namespace {

class Checker {
 public:
  Checker(const Site& site, const Plan& plan) : site_(site), plan_(plan) {
    for (const HostView& h : site.snapshot.hosts) hosts_[h.id] = &h;
    for (const demand::ClassView& c : site.snapshot.classes) classes_[c.id] = &c;
  }
  void all() const {
    placements();
    creates();
    shutdowns();
    waiting();
    reservations();
  }

 private:
  void placements() const {
    std::map<model::InstanceId, model::Resources> used;
    std::map<model::InstanceId, std::int64_t> attempts;
    std::map<demand::ClassId, std::uint64_t> taken;
    for (const Place& p : plan_.places) {
      const HostView& h = *hosts_.at(p.host);
      const demand::ClassView& c = *classes_.at(p.cls);
      EXPECT_TRUE(h.phase == HostPhase::kReady && h.takes_work) << "on " << p.host.text();
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

  void creates() const {
    std::map<std::uint32_t, std::int64_t> in_pool, in_set, price_pool, price_set;
    std::int64_t price = 0;
    for (const Create& create : plan_.creates) {
      const Offering& o = site_.snapshot.offerings[create.offering];
      EXPECT_EQ(o.shut, "") << "through a shut gate";
      EXPECT_FALSE(create.reason.empty());
      ++in_pool[o.pool], ++in_set[o.set];
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
                                         return h.pool == pool && h.phase != HostPhase::kLeaving;
                                       });
      EXPECT_LE(there + n, site_.policy.pools[p].sizes.max) << "past max";
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

std::string text(const Site& site, const Plan& plan) {
  std::ostringstream out;
  for (const Place& p : plan.places)
    out << "place " << p.host.text() << ' ' << p.cls << ' ' << p.count << '\n';
  for (const Create& c : plan.creates) {
    const Offering& o = site.snapshot.offerings[c.offering];
    out << "create " << site.policy.types[o.type].name << ' ' << o.zone << ' ' << o.pool << ' '
        << c.reason;
    for (const demand::Load& load : c.load) out << ' ' << load.cls << 'x' << load.count;
    out << '\n';
  }
  for (const Shutdown& s : plan.shutdowns)
    out << "end " << s.host.text() << ' ' << s.reason << '\n';
  for (const Reserve& r : plan.reservations)
    out << "reserve " << r.host.text() << ' ' << r.cls << '\n';
  for (const Waiting& w : plan.waiting)
    out << "wait " << w.cls << ' ' << to_string(w.code) << ' ' << w.reason << '\n';
  for (const Rejected& r : plan.rejected) out << "no " << r.cls << ' ' << r.reason << '\n';
  return out.str();
}

template <class T>
std::vector<std::uint32_t> shuffle(std::vector<T>& items, Random& random) {
  std::vector<std::uint32_t> moved_to(items.size()), order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<T> out;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    moved_to[order[i]] = i;
    out.push_back(items[order[i]]);
  }
  items = std::move(out);
  return moved_to;
}

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

TEST(PlanPropertyTest, KeepsItsPromisesInAnyWorld) {
  for_each_seed(1000, [](std::uint64_t seed) {
    const RandomWorld world(seed);
    const Plan plan = world.plan();
    Checker(world, plan).all();
  });
}

TEST(PlanPropertyTest, DoesNotDependOnTheOrderOfHostsAndOfferings) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    const std::string before = text(world, world.plan());
    shuffle(world.snapshot.hosts, world.random);
    const auto moved_to = shuffle(world.snapshot.offerings, world.random);
    for (HostView& h : world.snapshot.hosts)
      if (h.offering < moved_to.size()) h.offering = moved_to[h.offering];
    EXPECT_EQ(text(world, world.plan()), before);
  });
}

TEST(PlanPropertyTest, AnAppliedPlanIsNotRepeated) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    world.snapshot.site = {};
    for (auto& room : world.snapshot.sets) room = {};
    for (auto& room : world.snapshot.pools) room = {};
    for (auto& p : world.policy.pools) p.sizes.max = 1000, p.sizes.min = 0, p.sizes.standby = 0;
    // Ending a spot request that took too long makes room for a new one: that is no repetition.
    // So does the end of a reservation.
    for (HostView& h : world.snapshot.hosts) h.unfulfilled_spot = false, h.reserved_for.reset();
    for (demand::ClassView& c : world.snapshot.classes) c.oldest = world.snapshot.now;
    const Plan first = world.plan();
    world.apply(first);
    const Plan second = world.plan();
    EXPECT_TRUE(second.creates.empty()) << text(world, first) << "then\n" << text(world, second);
    for (const Shutdown& end : second.shutdowns)
      EXPECT_LT(end.host.value, 1000U) << "ends what it has just created:\n" << text(world, second);
  });
}

TEST(PlanPropertyTest, AReserveIsMadeOnceAndKept) {
  for_each_seed(300, [](std::uint64_t seed) {
    Random random(seed);
    const auto number = [&](std::uint64_t below) {
      return static_cast<std::int32_t>(random.below(below));
    };
    Site site;
    site.snapshot.offerings[site.type("small", 2, 4, 100)].can_stop = true;
    auto& pool = site.pool();
    pool.sizes.min = number(4), pool.sizes.standby = number(4), pool.sizes.stopped = number(4);
    std::size_t made = 0;
    for (int plans = 0; plans < 20; ++plans) {
      const Plan plan = site.plan();
      made += plan.creates.size();
      EXPECT_TRUE(plan.shutdowns.empty()) << pool.sizes.min << " " << pool.sizes.standby << " "
                                          << pool.sizes.stopped << " at plan " << plans;
      site.apply(plan);
      site.snapshot.now += std::chrono::seconds(number(60));
      for (HostView& h : site.snapshot.hosts) {
        h.can_stop = true;
        if (h.phase != HostPhase::kComing || !random.chance(0.2)) continue;
        h.phase = HostPhase::kReady, h.takes_work = true, h.since = site.snapshot.now;
      }
    }
    EXPECT_EQ(made, static_cast<std::size_t>(std::max(pool.sizes.min, pool.sizes.standby) +
                                             pool.sizes.stopped));
  });
}

/// The lowest price of a part, of the hosts that can be bought for one item of the class alone.
std::optional<model::Micros> cheapest_part(const Site& site, const demand::ClassView& cls) {
  const auto may_go = [&](const Offering& o) {
    const auto& pool = site.policy.pools[o.pool];
    const auto& wanted = cls.shape.constraints;
    return pool.sizes.min <= pool.sizes.max && pool.sizes.max > 0 &&
           cls.shape.needs.fits_in(o.resources) &&
           meets(wanted, site.policy.types[o.type].name, o.zone, o.market) &&
           within_cap(o, site.policy);
  };
  double cheapest = HUGE_VAL;
  for (const Offering& o : site.snapshot.offerings)
    if (may_go(o)) cheapest = std::min(cheapest, static_cast<double>(o.price_per_hour.value));
  std::optional<model::Micros> out;
  for (const Offering& o : site.snapshot.offerings) {
    const double most = cheapest * site.policy.pools[o.pool].price_factor_max;
    if (!may_go(o) || !o.shut.empty() || static_cast<double>(o.price_per_hour.value) > most)
      continue;
    const auto part = demand::price_of_part(o.price_per_hour, cls.shape.needs, o.resources);
    if (!out || part < *out) out = part;
  }
  return out;
}

TEST(PlanPropertyTest, StartsSomethingOfEachClassWhoseLimitPaysForAHostOfOneItem) {
  for_each_seed(1000, [](std::uint64_t seed) {
    RandomWorld world(seed);
    world.snapshot.site = {};
    for (auto& room : world.snapshot.sets) room = {};
    for (auto& room : world.snapshot.pools) room = {};
    for (auto& p : world.policy.pools)
      p.sizes.max = 1000, p.price_factor_max = 1 + static_cast<double>(world.random.below(3)) / 4;
    for (Offering& o : world.snapshot.offerings) {
      o.market = Market::kOnDemand;
      o.price_per_hour.value *= 1000;
    }
    for (HostView& h : world.snapshot.hosts) h.unfulfilled_spot = false, h.reserved_for.reset();
    std::map<demand::ClassId, bool> payable;
    for (demand::ClassView& c : world.snapshot.classes) {
      const model::Micros most{static_cast<std::int64_t>(world.random.below(1'000'000))};
      const auto part = cheapest_part(world, c);
      c.price = demand::PriceBound({{.left = most, .items = c.count}});
      payable[c.id] = part && *part <= most;
    }
    const Plan plan = world.plan();
    for (const Waiting& w : plan.waiting)
      if (payable[w.cls] && placed(plan, w.cls) == 0) {
        EXPECT_TRUE(w.code == model::WaitingCode::kHostComing ||
                    w.code == model::WaitingCode::kReserved)
            << "class " << w.cls << ": " << w.reason;
      }
  });
}

TEST(PlanPropertyTest, LeavesNothingWaitingThatFitsWhereNothingElseGoes) {
  for_each_seed(500, [](std::uint64_t seed) {
    RandomWorld world(seed);
    for (HostView& h : world.snapshot.hosts) h.reserved_for.reset();
    const Plan plan = world.plan();
    world.apply(plan);
    for (const demand::ClassView& c : world.snapshot.classes)
      for (const HostView& h : world.snapshot.hosts) {
        if (h.phase != HostPhase::kReady || !h.takes_work || h.reserved_for) continue;
        if (std::ranges::find(plan.closed, h.id, &Close::host) != plan.closed.end()) continue;
        if (h.attempts_left < INT32_MAX || c.shape.constraints != model::Constraints{}) continue;
        EXPECT_FALSE(c.shape.needs.fits_in(h.free)) << "class " << c.id << " on " << h.id.text();
      }
  });
}

}  // namespace
}  // namespace hostler::scheduler
