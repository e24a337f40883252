#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/demand/shares.h"
#include "core/scheduler/fit.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {

/// Checks the promises of each plan about gangs.
class GangChecker {
 public:
  GangChecker(const Site& site, const Plan& plan) : site_(site), plan_(plan) {
    for (const HostView& h : site.snapshot.hosts) hosts_[h.id] = &h;
    for (const demand::ClassView& c : site.snapshot.classes)
      if (c.shape.gang.count > 0) gangs_[c.id] = &c;
    for (const Waiting& w : plan.waiting)
      if (gangs_.contains(w.cls) && w.code == model::WaitingCode::kReserved) holding_.insert(w.cls);
  }
  void all() const {
    one_holds_in_each_pool();
    for (const auto& [id, gang] : gangs_) {
      SCOPED_TRACE("gang " + std::to_string(id));
      begins_whole(*gang);
      holds_what_it_needs(*gang);
      begins_if_it_fits(*gang);
    }
    for (const Reserve& one : plan_.reservations)
      if (gangs_.contains(one.cls)) only_short_work_is_on(one);
  }
  [[nodiscard]] std::size_t begun() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        gangs_, [&](const auto& gang) { return placed(plan_, gang.first) > 0; }));
  }
  [[nodiscard]] std::size_t held() const { return holding_.size(); }

 private:
  using Zone = std::pair<std::uint32_t, std::string>;

  [[nodiscard]] bool may_use(const demand::ClassView& c, const Offering& o) const {
    return meets(c.kind, c.shape.constraints, site_.policy.pools[o.pool],
                 site_.policy.types[o.type].name, o.zone, o.market);
  }
  [[nodiscard]] bool may_gather(const demand::ClassView& c) const {
    return c.count == c.shape.gang.count && c.not_before <= site_.snapshot.now;
  }
  [[nodiscard]] Zone zone_of(const HostView& h) const {
    if (h.offering >= site_.snapshot.offerings.size()) return {UINT32_MAX, h.id.text()};
    const Offering& o = site_.snapshot.offerings[h.offering];
    return {o.set, o.zone};
  }
  [[nodiscard]] std::set<std::uint32_t> pools_of(const demand::ClassView& c) const {
    std::set<std::uint32_t> out;
    for (const Offering& o : site_.snapshot.offerings)
      if (may_use(c, o)) out.insert(o.pool);
    return out;
  }

  void one_holds_in_each_pool() const {
    std::set<std::uint32_t> taken;
    for (const demand::ClassId cls : holding_)
      for (const std::uint32_t pool : pools_of(*gangs_.at(cls)))
        EXPECT_TRUE(taken.insert(pool).second) << "gang " << cls << " in pool " << pool;
  }

  void begins_whole(const demand::ClassView& gang) const {
    std::set<model::InstanceId> on;
    std::set<Zone> zones;
    std::int64_t price = 0, gpus = 0;
    model::Vcpus vcpus;
    for (const Place& p : plan_.places) {
      if (p.cls != gang.id) continue;
      const HostView& h = *hosts_.at(p.host);
      EXPECT_EQ(p.count, 1U);
      EXPECT_TRUE(on.insert(p.host).second) << "twice on " << p.host.text();
      EXPECT_FALSE(h.busy) << p.host.text();
      zones.insert(zone_of(h));
      price += demand::price_of_part(h.price_per_hour, demand::held_by(gang.shape, h.total),
                                     h.total, h.jobs_max)
                   .value;
      vcpus += h.total.vcpus;
      gpus += h.total.gpus;
    }
    if (on.empty()) return;
    EXPECT_EQ(on.size(), gang.shape.gang.count);
    EXPECT_TRUE(may_gather(gang));
    EXPECT_TRUE(!gang.shape.gang.one_zone || zones.size() == 1);
    if (!gang.price) return;
    const model::Amounts& left = gang.price->buckets().front().all.left;
    EXPECT_LE(price, left.price_per_hour.value);
    EXPECT_LE(vcpus, left.vcpus);
    EXPECT_LE(gpus, left.gpus);
  }

  /// Hosts are reserved, created and switched on for it only if it waits for all of them.
  void holds_what_it_needs(const demand::ClassView& gang) const {
    const auto is_for_it = [&](const std::vector<demand::Load>& load) {
      return std::ranges::find(load, gang.id, &demand::Load::cls) != load.end();
    };
    std::size_t held = 0;
    for (const Reserve& one : plan_.reservations) held += one.cls == gang.id ? 1 : 0;
    for (const Wake& one : plan_.wakes) held += is_for_it(one.load) ? 1 : 0;
    for (const Create& one : plan_.creates) held += is_for_it(one.load) ? 1 : 0;
    EXPECT_LE(held, holding_.contains(gang.id) ? gang.shape.gang.count : 0U);
    EXPECT_TRUE(!holding_.contains(gang.id) || may_gather(gang));
  }

  /// No host that the gang has held already has other work, but leases that end before it can
  /// begin.
  void only_short_work_is_on(const Reserve& held) const {
    const HostView& host = *hosts_.at(held.host);
    if (host.busy || host.reserved_for != held.cls) return;
    Mono begin = Mono::min();
    for (const Reserve& one : plan_.reservations)
      if (one.cls == held.cls)
        begin = std::max(begin, hosts_.at(one.host)->lent_until.value_or(Mono::min()));
    for (const Place& p : plan_.places) {
      if (p.host != held.host) continue;
      const auto cls =
          std::ranges::find(site_.snapshot.classes, p.cls, &demand::ClassView::id)->shape;
      EXPECT_TRUE(cls.exclusive && cls.lasts > Duration::zero()) << p.host.text();
      EXPECT_LE(site_.snapshot.now + cls.lasts, begin) << p.host.text();
    }
    for (const Place& p : plan_.covered)
      EXPECT_TRUE(p.host != held.host || p.cls == held.cls) << p.host.text();
  }

  /// The plan has no use for the host, and the gang could have it now.
  [[nodiscard]] bool is_left(const HostView& h, const demand::ClassView& gang) const {
    const auto is_it = [&](const auto& one) { return one.host == h.id; };
    return h.phase == HostPhase::kReady && h.takes_work && !h.busy && !h.kept && !h.will_go() &&
           !h.unreachable_since && h.attempts_left > 0 &&
           h.offering < site_.snapshot.offerings.size() &&
           may_use(gang, site_.snapshot.offerings[h.offering]) &&
           gang.shape.needs.fits_in(h.total) && std::ranges::none_of(plan_.places, is_it) &&
           std::ranges::none_of(plan_.reservations, is_it) &&
           std::ranges::none_of(plan_.closed, is_it);
  }

  /// Unless another gang holds hosts in its pools.
  void begins_if_it_fits(const demand::ClassView& gang) const {
    if (!may_gather(gang) || gang.price || placed(plan_, gang.id) > 0) return;
    const std::set<std::uint32_t> pools = pools_of(gang);
    for (const demand::ClassId cls : holding_)
      for (const std::uint32_t pool : pools_of(*gangs_.at(cls)))
        if (cls != gang.id && pools.contains(pool)) return;
    std::map<Zone, std::uint32_t> left;
    std::uint32_t all = 0, most = 0;
    for (const HostView& h : site_.snapshot.hosts)
      if (is_left(h, gang)) ++all, most = std::max(most, ++left[zone_of(h)]);
    EXPECT_LT(gang.shape.gang.one_zone ? most : all, gang.shape.gang.count) << "are left";
  }

  const Site& site_;
  const Plan& plan_;
  std::map<model::InstanceId, const HostView*> hosts_;
  std::map<demand::ClassId, const demand::ClassView*> gangs_;
  std::set<demand::ClassId> holding_;
};

}  // namespace hostler::scheduler
