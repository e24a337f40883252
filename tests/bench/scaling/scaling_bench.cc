// From a reading of one metric that serves many pools to the plan that follows: CPU time of the
// loop (the reading, the bounds, the snapshot) and of the planner. Each round has other numbers, so
// each bound of each pool is decided anew. usage: scaling_bench [POOLS [HOSTS]]     1,000, 5,000

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/dispatcher.h"
#include "tests/bench/ready_hosts.h"

namespace hostler::dispatch {
namespace {

using namespace std::chrono_literals;

constexpr int kRounds = 20;

double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

std::string pool_name(std::uint64_t pool) { return "pool-" + std::to_string(pool); }

model::SitePolicy policy(std::uint64_t pools) {
  model::SitePolicy out;
  auto& type = out.types.emplace_back();
  type.name = type.provider_type = "t8";
  type.resources = {.vcpus = 8, .gpus = 0, .ram = 8 * 2048 * kMiB, .scratch = 0};
  type.price_per_hour = {80'000};
  out.sets.emplace_back().name = "west";
  out.ceilings.instances_max = 1'000'000;
  auto& metric = out.metrics.emplace_back();
  metric.name = "rps";
  metric.by = "pool";
  for (std::uint64_t p = 0; p < pools; ++p) {
    auto& pool = out.pools.emplace_back();
    pool.name = pool_name(p);
    pool.sets = {"west"};
    pool.types = {type.name};
    pool.idle_timeout = 1h;
    pool.sizes.texts.min = "ceil(rps / 100) + (hour(\"UTC\") in 8..17 ? 1 : 0)";
    pool.sizes.texts.max = "clamp(ceil(rps / 50), 2, 50)";
    pool.scaling.up.policies = {{.value = 4, .is_percent = false, .per = 1min}};
  }
  return out;
}

model::MetricReading reading(std::uint64_t pools, Random& random, Wall now) {
  model::MetricReading out{.metric = "rps", .samples = {}, .failure = {}};
  for (std::uint64_t p = 0; p < pools; ++p)
    out.samples.push_back({pool_name(p), static_cast<double>(300 + random.below(400)), now});
  return out;
}

std::shared_ptr<const model::ListedInstance> in_pool(model::ListedInstance host, std::string pool) {
  host.pool = std::move(pool);
  return std::make_shared<model::ListedInstance>(std::move(host));
}

/// A dispatcher whose hosts are ready and idle, as many in each pool.
class Site {
 public:
  Site(std::uint64_t pools, std::uint64_t hosts)
      : kernel_(policy(pools), numbered_secrets(), {}), pools_(pools) {
    model::Restored rows;
    rows.owner = "us";
    rows.epoch = 3;
    for (std::uint64_t h = 1; h <= hosts; ++h) {
      rows.instances.push_back(ready_host(h));
      rows.instances.back().record.pool = pool_name(h % pools);
    }
    rows.last_instance = hosts;
    take(kernel_.restore(std::move(rows), now_));
    model::SetInfo info;
    info.list_consistency = 1s;
    info.max_concurrency = 16;
    say(SetOpened{"west", info});
    say(ZonesRead{{{"UTC", {{Wall{0}, 0}}}}});
    auto listed = listed_hosts(hosts, now_.mono);
    for (std::uint64_t h = 1; h <= hosts; ++h)
      (*listed.result)[h - 1] = in_pool(*(*listed.result)[h - 1], pool_name(h % pools));
    say(std::move(listed));
    for (std::uint64_t h = 1; h <= hosts; ++h)
      for (auto& report : reports_of_ready_host(h)) say(std::move(report));
  }

  struct Times {
    double reading = 0, snapshot = 0, plan = 0;
    std::size_t actions = 0;
  };
  Times round() {
    for (int second = 0; second < 15; ++second) pass(1s);
    MetricsRead event{{reading(pools_, random_, now_.wall)}};
    Times out;
    double began = cpu_ms();
    take(kernel_.apply(std::move(event), now_));
    out.reading = cpu_ms() - began;
    now_ = {now_.mono + 100ms, now_.wall + 100ms};
    began = cpu_ms();
    take(kernel_.tick(now_));
    out.snapshot = cpu_ms() - began;
    if (!wanted_) return out;  // The list of its cloud is not looked at yet.
    began = cpu_ms();
    const auto plan = scheduler::make_plan(*wanted_->snapshot, *wanted_->policy);
    out.plan = cpu_ms() - began;
    out.actions = plan.creates.size() + plan.shutdowns.size();
    answer();
    return out;
  }

 private:
  void say(Event event) { take(kernel_.apply(std::move(event), now_)); }
  void pass(Duration time) {
    now_ = {now_.mono + time, now_.wall + time};
    take(kernel_.tick(now_));
    if (wanted_) answer();
  }
  /// With a plan that does nothing: the hosts stay as many as they are.
  void answer() {
    PlanMade made;
    made.number = wanted_->number;
    wanted_.reset();
    say(std::move(made));
  }
  void take(Outbox out) {
    for (auto& effect : out.effects)
      if (auto* plan = std::get_if<MakePlan>(&effect)) wanted_ = std::move(*plan);
  }

  Dispatcher kernel_;
  const std::uint64_t pools_;
  Random random_{1};
  Now now_{Mono(100h), Wall{1'700'000'000'000'000}};
  std::optional<MakePlan> wanted_;
};

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

void run(std::uint64_t pools, std::uint64_t hosts) {
  Site site(pools, hosts);
  std::vector<double> reading, snapshot, plan, all;
  std::size_t actions = 0;
  for (int i = 0; i < kRounds; ++i) {
    const auto one = site.round();
    reading.push_back(one.reading);
    snapshot.push_back(one.snapshot);
    plan.push_back(one.plan);
    all.push_back(one.reading + one.snapshot + one.plan);
    actions += one.actions;
  }
  std::printf("%zu actions in %d plans\n", actions, kRounds);
  std::printf("reading              %6.2f ms\n", median(reading));
  std::printf("bounds and snapshot  %6.2f ms\n", median(snapshot));
  std::printf("plan                 %6.2f ms\n", median(plan));
  std::printf("together             %6.2f ms (median of %d), worst %.2f ms\n", median(all), kRounds,
              *std::max_element(all.begin(), all.end()));
}

}  // namespace
}  // namespace hostler::dispatch

int main(int argc, char** argv) {
  const std::uint64_t pools = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000;
  const std::uint64_t hosts = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5'000;
  hostler::dispatch::run(pools, hosts);
}
