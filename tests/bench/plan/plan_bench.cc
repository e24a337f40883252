// Plans of the sizes in docs/performance.md. Random numbers u(n) are those of splitmix64, seed 1.
//
// U: hosts of 10 vcpus and 40 GiB, jobs of 1 vcpu and 1 GiB, priority 1 + u(1000).
// M: 16 types of i vcpus, 1.1 i GiB, price 0.123 i; jobs of 1 + u(8) vcpus and 1 + u(3) GiB; each
//    host of the type that fits one job.
// Idle: all hosts are empty, so jobs are placed. Full: all hosts are in use and a ceiling forbids
// more.

#include <benchmark/benchmark.h>

#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/demand/lane_caps.h"
#include "core/demand/shares.h"
#include "core/demand/turns.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/questions/offered_types.h"
#include "core/dispatch/state/questions/type_selection.h"
#include "core/pricing/history.h"
#include "core/scheduler/plan.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using namespace std::chrono_literals;

struct Bench {
  model::SitePolicy policy;
  Snapshot snapshot;
  Random random{1}, users_random{2};
  demand::Queue queue;
  std::uint64_t jobs = 0;

  Bench() {
    policy.sets.resize(1);
    policy.pools.resize(1);
    policy.pools[0].sizes.max = 1'000'000;
    snapshot.now = Mono(1h);
    snapshot.sets.resize(1);
    snapshot.pools.resize(1);
  }
  void type(std::int32_t vcpus, std::int64_t ram, std::int64_t price) {
    model::InstanceType t;
    t.name = "t" + std::to_string(policy.types.size());
    t.resources = {.vcpus = vcpus, .gpus = 0, .ram = ram, .scratch = 0};
    t.price_per_hour = {price};
    Offering o;
    o.type = static_cast<std::uint32_t>(policy.types.size());
    o.resources = t.resources;
    o.price_per_hour = t.price_per_hour;
    policy.types.push_back(t);
    snapshot.offerings.push_back(o);
  }
  void job(model::Vcpus vcpus, std::int64_t gib, std::int32_t priority,
           demand::PrincipalId user = 0) {
    model::WorkShape shape;
    shape.needs = {.vcpus = vcpus, .gpus = 0, .ram = gib * kGiB, .scratch = 0};
    shape.priority = priority;
    ++jobs;
    queue.push(queue.intern(shape), {.arrival = jobs, .work = {jobs}, .since = snapshot.now - 1min},
               user);
  }
  void host(std::uint32_t offering, bool full) {
    HostView h;
    h.id = {snapshot.hosts.size() + 1};
    h.offering = offering;
    h.phase = HostPhase::kReady;
    h.takes_work = true;
    h.busy = full;
    h.total = snapshot.offerings[offering].resources;
    h.free = full ? model::Resources{} : h.total;
    h.price_per_hour = snapshot.offerings[offering].price_per_hour;
    h.since = h.created = snapshot.now - 10s;
    snapshot.hosts.push_back(std::move(h));
  }
  /// Of so many; one user needs no chance, so that the jobs are those of earlier figures.
  demand::PrincipalId user(std::int64_t users) {
    return users == 1 ? 0
                      : static_cast<demand::PrincipalId>(
                            users_random.below(static_cast<std::uint64_t>(users)));
  }
  void use_something(std::int64_t users) {
    for (demand::PrincipalId p = 0; p < static_cast<demand::PrincipalId>(users); ++p)
      queue.set_key(p, static_cast<double>(users_random.below(100'000)));
  }
  void take_classes() { snapshot.classes = demand::views_by_turns(queue, 1); }
  void measure(benchmark::State& state) {
    take_classes();
    if (snapshot.hosts.empty() || snapshot.hosts[0].busy) snapshot.site.instances = 0;
    Plan plan;
    for (auto _ : state) {
      plan = make_plan(snapshot, policy);
      benchmark::DoNotOptimize(plan);
    }
    std::uint64_t placed = 0;
    for (const Place& p : plan.places) placed += p.count;
    state.counters["placed"] = static_cast<double>(placed);
    state.counters["creates"] = static_cast<double>(plan.creates.size());
  }
};

void shape_u(benchmark::State& state) {
  Bench bench;
  bench.type(10, 40 * kGiB, 1'000'000);
  for (int i = 0; i < 1000; ++i) bench.host(0, state.range(0) != 0);
  for (int i = 0; i < 10'000; ++i)
    bench.job(1, 1, 1 + static_cast<std::int32_t>(bench.random.below(1000)));
  bench.measure(state);
}

void shape_m(benchmark::State& state) {
  Bench bench;
  for (int i = 1; i <= 16; ++i)
    bench.type(i, static_cast<std::int64_t>(1.1 * i * kGiB), 123'000 * i);
  for (int i = 0; i < 10'000; ++i) {
    const auto vcpus = 1 + static_cast<std::int32_t>(bench.random.below(8));
    const auto gib = 1 + static_cast<std::int64_t>(bench.random.below(3));
    bench.job(vcpus, gib, 0);
    if (i >= 1000) continue;
    model::WorkShape shape;
    shape.needs = {.vcpus = vcpus, .gpus = 0, .ram = gib * kGiB, .scratch = 0};
    bench.host(*cheapest_fit(shape, bench.snapshot.offerings, bench.policy, nullptr),
               state.range(0) != 0);
  }
  bench.measure(state);
}

/// 100 shapes, `types` offerings, 10,000 hosts. `full` % of the hosts have no room; half of the
/// others run something. The pool's max limits creates. The jobs are of `users` users.
void large(benchmark::State& state) {
  Bench bench;
  Random& random = bench.random;
  const auto types = static_cast<std::uint64_t>(state.range(3));
  for (std::uint64_t i = 0; i < types; ++i) {
    const auto vcpus = 1 + static_cast<std::int32_t>(random.below(64));
    const auto gib = vcpus * (1 + static_cast<std::int64_t>(random.below(8)));
    bench.type(vcpus, gib * kGiB,
               vcpus * 30'000 + gib * 4'000 + static_cast<std::int64_t>(random.below(20'000)));
  }
  for (int i = 0; i < 10'000; ++i) {
    bench.host(static_cast<std::uint32_t>(random.below(types)),
               random.below(100) < static_cast<std::uint64_t>(state.range(0)));
    HostView& h = bench.snapshot.hosts.back();
    if (h.busy || random.chance(0.5)) continue;
    h.busy = true;
    h.free.vcpus =
        static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(h.total.vcpus.whole())));
    h.free.ram /= 2;
  }
  std::vector<model::Resources> shapes;
  for (int i = 0; i < 100; ++i)
    shapes.push_back({.vcpus = 1 + static_cast<std::int32_t>(random.below(16)),
                      .gpus = 0,
                      .ram = 1 + static_cast<std::int64_t>(random.below(64)),
                      .scratch = 0});
  for (int i = 0; i < 100'000; ++i) {
    const auto& needs = shapes[random.below(100)];
    bench.job(needs.vcpus, needs.ram, 0, bench.user(state.range(2)));
  }
  bench.use_something(state.range(2));
  bench.policy.pools[0].sizes.max = static_cast<std::int32_t>(state.range(1));
  bench.take_classes();
  Plan plan;
  for (auto _ : state) {
    plan = make_plan(bench.snapshot, bench.policy);
    benchmark::DoNotOptimize(plan);
  }
  std::uint64_t placed = 0;
  for (const Place& p : plan.places) placed += p.count;
  state.counters["placed"] = static_cast<double>(placed);
  double price = 0;
  for (const Create& create : plan.creates)
    price += static_cast<double>(bench.snapshot.offerings[create.offering].price_per_hour.value);
  state.counters["price"] = price / 1e6;
  state.counters["creates"] = static_cast<double>(plan.creates.size());
}

/// 100,000 jobs of 100 shapes by `users` users.
void fill_queue(Bench& bench, std::int64_t users) {
  for (int i = 0; i < 100'000; ++i) bench.job(1 + i % 100, 1, 0, bench.user(users));
  bench.use_something(users);
}

/// What a plan sees of the queue: made on the loop.
void see_turns(benchmark::State& state) {
  Bench bench;
  fill_queue(bench, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(demand::views_by_turns(bench.queue, 1));
}

/// A job ends, the next one is chosen for its room and starts, and another one comes.
void next_job(benchmark::State& state) {
  Bench bench;
  fill_queue(bench, state.range(0));
  demand::Queue& queue = bench.queue;
  double key = 200'000;
  for (auto _ : state) {
    const auto room = 1 + static_cast<std::int32_t>(bench.users_random.below(100));
    const auto cls =
        queue.next([&](const demand::Queue::Class& one) { return one.shape.needs.vcpus <= room; });
    queue.pop(*cls);
    const demand::PrincipalId who = bench.user(state.range(0));
    queue.set_key(who, key += 1);
    ++bench.jobs;
    queue.push(*cls, {.arrival = bench.jobs, .work = {bench.jobs}, .since = {}}, who);
  }
}

void add_types(Bench& bench) {
  for (int i = 0; i < 400; ++i) {
    const auto vcpus = 1 + static_cast<std::int32_t>(bench.random.below(64));
    bench.type(vcpus, vcpus * 4 * kGiB,
               vcpus * 50'000 + static_cast<std::int64_t>(bench.random.below(9'999)));
  }
}

/// The same, with a limit of price for each user. The last plan has said why each class waits.
void limits_seen(benchmark::State& state) {
  Bench bench;
  add_types(bench);
  fill_queue(bench, state.range(0));
  for (demand::PrincipalId p = 0; p < static_cast<demand::PrincipalId>(state.range(0)); ++p) {
    const auto price = static_cast<std::int64_t>(bench.users_random.below(20'000'000));
    bench.queue.set_allowance(p, {.vcpus = {}, .price_per_hour = model::Micros{price}});
  }
  dispatch::PlanState last(bench.policy);
  std::vector<Waiting> waiting;
  for (const auto& order : bench.queue.order())
    waiting.push_back({order.cls, model::WaitingCode::kHostComing, "a host for it is coming"});
  last.explain(waiting, {});
  for (auto _ : state) {
    std::unordered_map<demand::ClassId, std::optional<demand::PartRange>> known;
    const auto parts = [&](demand::ClassId cls) {
      const auto [at, fresh] = known.try_emplace(cls);
      if (!fresh) return at->second;
      const model::Resources& needs = bench.queue.at(cls).shape.needs;
      for (const Offering& o : bench.snapshot.offerings) {
        if (!needs.fits_in(o.resources)) continue;
        const auto part =
            demand::price_of_part(o.price_per_hour, needs, o.resources, model::kJobsOnHostMax);
        const auto amounts = model::Amounts::of(needs, part);
        if (!at->second) at->second = {amounts, amounts};
        at->second->add(amounts);
      }
      return at->second;
    };
    const auto is_stuck = [&](demand::ClassId cls) { return last.supply(cls).is_stuck; };
    const demand::LaneCaps caps =
        demand::cap_lanes(bench.queue, {.parts = parts, .is_stuck = is_stuck});
    benchmark::DoNotOptimize(demand::views_by_turns(bench.queue, 1, caps));
  }
}

/// A job ends, and the next one starts, where each user runs as much as its limit allows: of vcpus
/// or of price.
void limits_next(benchmark::State& state) {
  Bench bench;
  constexpr demand::PrincipalId kUsers = 1000;
  fill_queue(bench, kUsers);
  demand::Queue& queue = bench.queue;
  std::vector<std::int64_t> left(kUsers, 100);
  const auto take = [&](demand::PrincipalId who, std::int64_t vcpus) {
    left[who] -= vcpus;
    if (state.range(0) != 0)
      queue.set_allowance(who, {.vcpus = left[who], .price_per_hour = {}});
    else
      queue.set_allowance(who, {.vcpus = {}, .price_per_hour = model::Micros{left[who] * 50'000}});
  };
  for (demand::PrincipalId p = 0; p < kUsers; ++p) take(p, 0);
  std::map<std::uint64_t, demand::PrincipalId> owners;
  for (demand::PrincipalId p = 0; p < kUsers; ++p)
    for (const auto& [lane, needs] : queue.lanes(p))
      queue.lane(p, lane.cls).each([&](const demand::Queue::Item& item) {
        owners[item.arrival] = p;
        return true;
      });
  struct Running {
    demand::PrincipalId who;
    std::int32_t vcpus;
  };
  std::deque<Running> running;
  double key = 200'000;
  const auto start = [&](std::int32_t room) {
    const auto price = [](const demand::Queue::Class& cls) {
      return model::Micros{cls.shape.needs.vcpus.thousandths() * 50};
    };
    model::Resources free = demand::Queue::kAnyRoom;
    free.vcpus = room;
    const auto cls = queue.next([](const demand::Queue::Class&) { return true; }, price, free);
    if (!cls) return false;
    const auto vcpus = static_cast<std::int32_t>(queue.at(*cls).shape.needs.vcpus.whole());
    const auto item = queue.pop(*cls, {price(queue.at(*cls))});
    const demand::PrincipalId who = owners.at(item.arrival);
    owners.erase(item.arrival);
    take(who, vcpus);
    queue.set_key(who, key += 1);
    running.push_back({who, vcpus});
    ++bench.jobs;
    owners[bench.jobs] = who;
    queue.push(*cls, {.arrival = bench.jobs, .work = {bench.jobs}, .since = {}}, who);
    return true;
  };
  while (start(100)) {
  }
  for (auto _ : state) {
    const Running ended = running.front();
    running.pop_front();
    take(ended.who, -ended.vcpus);
    start(ended.vcpus);
  }
  state.counters["running"] = static_cast<double>(running.size());
}

void choose_type(benchmark::State& state) {
  Bench bench;
  add_types(bench);
  model::WorkShape shape;
  shape.needs = {.vcpus = 12, .gpus = 0, .ram = 20 * kGiB, .scratch = 0};
  for (auto _ : state)
    benchmark::DoNotOptimize(cheapest_fit(shape, bench.snapshot.offerings, bench.policy, nullptr));
}

/// A pool chooses 1,000 types of 2,000 that its set offers, in one zone each: whenever the cloud
/// names other types or prices, on the loop.
void select_offered(benchmark::State& state) {
  Bench bench;
  bench.policy.sets[0].name = "west";
  auto& pool = bench.policy.pools[0];
  pool.sets = {"west"};
  pool.selector.emplace();
  std::vector<model::CloudOffering> answer;
  for (int i = 0; i < 2000; ++i) {
    model::CloudOffering one;
    one.provider_type = "t" + std::to_string(i);
    one.zone = "a";
    const auto vcpus = 1 + static_cast<std::int32_t>(bench.random.below(64));
    one.resources = {.vcpus = vcpus, .gpus = 0, .ram = vcpus * 4 * kGiB, .scratch = 0};
    one.price_per_hour = model::Micros{vcpus * 50'000};
    answer.push_back(std::move(one));
  }
  dispatch::OfferedTypes offered;
  offered.reload(bench.policy, {});
  (void)offered.take({.set = "west", .region = "", .currency = ""}, answer, {}, Wall{1});
  (void)offered.settle_names(bench.policy);
  dispatch::EffectivePolicy chosen;
  for (auto _ : state) chosen = dispatch::select_types(bench.policy, offered, {});
  state.counters["types"] = static_cast<double>(chosen.site.types.size());
}

void normalise_prices(benchmark::State& state) {
  Random random(1);
  std::vector<model::PricePoint> said;
  for (int i = 0; i < 10'000; ++i)
    said.push_back({Wall{static_cast<std::int64_t>(random.below(5'000)) * 1'000'000},
                    {static_cast<std::int64_t>(random.below(50))}});
  for (auto _ : state) {
    auto copy = said;
    benchmark::DoNotOptimize(pricing::normalise(std::move(copy)));
  }
}

BENCHMARK(shape_u)->ArgName("full")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(shape_m)->ArgName("full")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(large)
    ->ArgNames({"full_percent", "max", "users", "types"})
    ->ArgsProduct({{100}, {10'000, 11'000, 1'000'000}, {1, 1000}, {400}})
    ->ArgsProduct({{90}, {11'000}, {1, 1000}, {400}})
    ->ArgsProduct({{0}, {1'000'000}, {1, 1000}, {400}})
    ->ArgsProduct({{100}, {10'000, 11'000, 1'000'000}, {1}, {1000}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(see_turns)->ArgName("users")->Arg(1)->Arg(2)->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK(next_job)->ArgName("users")->Arg(1)->Arg(2)->Arg(1000);
BENCHMARK(limits_seen)->ArgName("users")->Arg(1)->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK(limits_next)->ArgName("vcpus")->Arg(0)->Arg(1);
BENCHMARK(choose_type);
BENCHMARK(select_offered)->Unit(benchmark::kMillisecond);
BENCHMARK(normalise_prices)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hostler::scheduler
