// What a plan's new hosts cost, over the linear-programming bound: no packing of these requests can
// cost less. Each case is measured on ten seeds: `over_bound` is of all of them together, `worst`
// of one. Items a second are those of whole plans.
// The menus and the requests: tests/unit/scheduler/plain_requests.h.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/plan.h"
#include "tests/unit/scheduler/linear_bound.h"
#include "tests/unit/scheduler/plain_requests.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

constexpr std::uint64_t kSeeds = 10;

/// Of hosts that come or are ready.
double price_of_hosts(const Site& site) {
  double sum = 0;
  for (const HostView& host : site.snapshot.hosts)
    if (host.phase == HostPhase::kComing || host.phase == HostPhase::kReady)
      sum += static_cast<double>(host.price_per_hour.value);
  return sum;
}

/// Jobs start where they are placed, and stay; hosts that are not wanted any more are gone.
void apply(Site& site, const Plan& plan) {
  auto& snapshot = site.snapshot;
  for (const Place& place : plan.places) {
    const auto cls = std::ranges::find(snapshot.classes, place.cls, &demand::ClassView::id);
    const auto host = std::ranges::find(snapshot.hosts, place.host, &HostView::id);
    site.occupy(*host, times(cls->shape.needs, place.count));
    cls->count -= place.count;
  }
  std::erase_if(snapshot.classes, [](const demand::ClassView& cls) { return cls.count == 0; });
  for (const Shutdown& end : plan.shutdowns)
    std::ranges::find(snapshot.hosts, end.host, &HostView::id)->phase = HostPhase::kLeaving;
  for (const Create& create : plan.creates)
    site.host(snapshot.hosts.size() + 1, create.offering, HostPhase::kComing).load = create.load;
}

void plain_requests(benchmark::State& state) {
  std::vector<Site> sites(kSeeds);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    add_menu(sites[seed], state.range(0), static_cast<std::int32_t>(state.range(2)));
    add_plain_requests(sites[seed], static_cast<std::uint64_t>(state.range(1)), seed + 1);
  }
  for (auto _ : state)
    for (const Site& site : sites) benchmark::DoNotOptimize(site.plan());
  state.SetItemsProcessed(state.iterations() * state.range(1) * static_cast<std::int64_t>(kSeeds));
  double price = 0, bound = 0, worst = 0, hosts = 0;
  for (Site& site : sites) {
    const double least = linear_bound(site);
    const Plan plan = site.plan();
    apply(site, plan);
    price += price_of_hosts(site);
    bound += least;
    worst = std::max(worst, price_of_hosts(site) / least);
    hosts += static_cast<double>(plan.creates.size());
  }
  state.counters["over_bound"] = price / bound;
  state.counters["worst"] = worst;
  state.counters["hosts"] = hosts / static_cast<double>(kSeeds);
}

/// Jobs of many different needs: 1 to 16 vcpus and 1 MiB to 64 GiB, ten jobs of each, on so many
/// linear types.
void distinct_needs(benchmark::State& state) {
  Site site;
  add_menu(site, state.range(0));
  Random random(1);
  for (std::int64_t i = 0; i < state.range(1); ++i) {
    const auto vcpus = static_cast<std::int32_t>(1 + random.below(16)) * kUnits;
    demand::ClassView& view = site.snapshot.classes[site.jobs(10, vcpus)];
    view.shape.needs.ram = static_cast<std::int64_t>(1 + random.below(65'536)) * kMiB;
  }
  Plan plan;
  for (auto _ : state) plan = site.plan();
  state.SetItemsProcessed(state.iterations() * state.range(1) * 10);
  const double least = linear_bound(site);
  apply(site, plan);
  state.counters["over_bound"] = price_of_hosts(site) / least;
  state.counters["hosts"] = static_cast<double>(plan.creates.size());
}

/// What the host was made for, as far as it still waits.
void start_load(Site& site, HostView& host) {
  for (const demand::Load& load : host.load) {
    const auto cls = std::ranges::find(site.snapshot.classes, load.cls, &demand::ClassView::id);
    if (cls == site.snapshot.classes.end()) continue;
    const std::uint64_t count = std::min<std::uint64_t>(load.count, cls->count);
    if (count > 0) site.occupy(host, times(cls->shape.needs, count));
    cls->count -= count;
  }
  std::erase_if(site.snapshot.classes, [](const demand::ClassView& cls) { return cls.count == 0; });
}

/// Hosts come up one by one, and take jobs until none waits: what the plan of that time places on
/// them, or with `load_first` 1 only what they were made for, whatever the plan would do. More
/// creates and boots that are thrown away show that the first plan did not do.
void hosts_come_one_by_one(benchmark::State& state) {
  double price = 0, bound = 0, worst = 0, more = 0, thrown_away = 0, waiting = 0;
  for (auto _ : state) {
    price = bound = worst = more = thrown_away = waiting = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Site site;
      add_menu(site, state.range(0));
      add_plain_requests(site, static_cast<std::uint64_t>(state.range(1)), seed);
      const double least = linear_bound(site);
      apply(site, site.plan());
      for (std::size_t next = 0; next < site.snapshot.hosts.size(); ++next) {
        HostView& host = site.snapshot.hosts[next];
        if (host.phase != HostPhase::kComing) continue;
        site.snapshot.now += 1s;
        host.phase = HostPhase::kReady;
        host.takes_work = true;
        host.since = site.snapshot.now;
        if (state.range(2) != 0) start_load(site, host);
        const Plan plan = site.plan();
        more += static_cast<double>(plan.creates.size());
        for (const Shutdown& s : plan.shutdowns)
          thrown_away += s.code == model::Reason::kBootingSurplus ? 1 : 0;
        apply(site, plan);
      }
      for (const demand::ClassView& left : site.snapshot.classes)
        waiting += static_cast<double>(left.count);
      price += price_of_hosts(site);
      bound += least;
      worst = std::max(worst, price_of_hosts(site) / least);
    }
  }
  const auto of_each = static_cast<double>(kSeeds);
  state.counters["over_bound"] = price / bound;
  state.counters["worst"] = worst;
  state.counters["more_creates"] = more / of_each;
  state.counters["thrown_away"] = thrown_away / of_each;
  state.counters["never_started"] = waiting / of_each;
}

BENCHMARK(plain_requests)
    ->ArgNames({"types", "jobs", "overhead"})
    ->ArgsProduct({{400}, {100, 1'000, 5'000, 10'000}, {0, 2}})
    ->ArgsProduct({{32, kRatios}, {1'000, 5'000, 10'000}, {0, 2}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(distinct_needs)
    ->ArgNames({"types", "needs"})
    ->ArgsProduct({{400}, {200, 300, 1'000, 10'000}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(hosts_come_one_by_one)
    ->ArgNames({"types", "jobs", "load_first"})
    ->ArgsProduct({{400, 32, kRatios}, {1'000}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace hostler::scheduler
