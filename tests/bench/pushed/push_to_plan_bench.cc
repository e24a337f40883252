// From a push of 1,000 agents and many tasks to the finished plan: CPU time of the loop (checks,
// demand, handshake, the views of all hosts) and of the planner, for a pool of one size of hosts
// and for one of three. Half of the agents are busy, and each push tells of others.
// usage: push_to_plan_bench [TASKS]     10,000

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "core/base/random.h"
#include "core/dispatch/dispatcher.h"
#include "core/pushed/check_push.h"
#include "tests/bench/ready_hosts.h"

namespace hostler::dispatch {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kAgents = 1'000;
constexpr int kRounds = 50;

double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

model::SitePolicy policy(const std::vector<std::int32_t>& sizes) {
  model::SitePolicy out;
  out.sets.emplace_back().name = "west";
  out.ceilings.instances_max = 1'000'000;
  auto& pool = out.pools.emplace_back();
  pool.name = "default";
  pool.sets = {"west"};
  pool.sizes.max = 100'000;
  pool.idle_timeout = 1h;
  pool.readiness = model::Readiness::kCloud;
  pool.pushed.emplace();
  for (const std::int32_t slots : sizes) {
    auto& type = out.types.emplace_back();
    type.name = type.provider_type = "t" + std::to_string(slots);
    type.resources = {.vcpus = slots, .gpus = 0, .ram = slots * 2048 * kMiB, .scratch = 0};
    type.resources.slots = slots;
    type.price_per_hour = {slots * 10'000};
    pool.types.push_back(type.name);
  }
  return out;
}

/// A dispatcher whose hosts are ready, and the pusher of its pool.
class Site {
 public:
  explicit Site(const std::vector<std::int32_t>& sizes)
      : kernel_(policy(sizes), numbered_secrets(), {}) {
    model::Restored rows;
    rows.owner = "us";
    rows.epoch = 3;
    for (std::uint64_t h = 1; h <= kAgents; ++h) rows.instances.push_back(ready_host(h));
    rows.last_instance = kAgents;
    take(kernel_.restore(std::move(rows), now_));
    model::SetInfo info;
    info.list_consistency = 1s;
    info.max_concurrency = 16;
    say(SetOpened{"west", info});
    say(listed_hosts(kAgents, now_.mono));
    for (std::uint64_t h = 1; h <= kAgents; ++h)
      for (auto& report : reports_of_ready_host(h)) say(std::move(report));
  }

  struct Times {
    double loop = 0, plan = 0;
    std::size_t creates = 0;
  };
  Times round(std::uint64_t tasks) {
    for (int second = 0; second < 5; ++second) pass(1s);
    auto push = next(tasks);
    Times out;
    double began = cpu_ms();
    HOSTLER_ASSERT(pushed::check_push(push), "the push is good");
    say(PushReceived{++pushes_, "token scaler", "default", std::move(push)});
    if (!wanted_) pass(100ms, /*answers=*/false);
    out.loop = cpu_ms() - began;
    HOSTLER_ASSERT(wanted_, "a push wants a plan");
    began = cpu_ms();
    const auto plan = scheduler::make_plan(*wanted_->snapshot, *wanted_->policy);
    out.plan = cpu_ms() - began;
    out.creates = plan.creates.size();
    answer();
    return out;
  }

 private:
  model::Push next(std::uint64_t tasks) {
    model::Push out;
    out.session = "s";
    out.sequence = ++sequence_;
    for (std::uint64_t a = 1; a <= kAgents; ++a)
      out.agents.push_back({"h-" + std::to_string(a), random_.below(2) == 0});
    for (std::uint64_t t = 0; t < tasks; ++t)
      out.tasks.push_back({"task-" + std::to_string(t), static_cast<std::int32_t>(random_.below(9)),
                           t % 2 == 0 ? "" : "group-" + std::to_string(random_.below(100))});
    return out;
  }
  void say(Event event) { take(kernel_.apply(std::move(event), now_)); }
  void pass(Duration time, bool answers = true) {
    now_ = {now_.mono + time, now_.wall + time};
    take(kernel_.tick(now_));
    if (wanted_ && answers) answer();
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
  Random random_{1};
  Now now_{Mono(100h), Wall{1'700'000'000'000'000}};
  std::optional<MakePlan> wanted_;
  Ticket pushes_ = 0;
  std::uint64_t sequence_ = 0;
};

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all[all.size() / 2];
}

void run(const char* name, const std::vector<std::int32_t>& sizes, std::uint64_t tasks) {
  Site site(sizes);
  std::vector<double> loop, plan, all;
  std::size_t creates = 0;
  for (int i = 0; i < kRounds; ++i) {
    const auto one = site.round(tasks);
    loop.push_back(one.loop);
    plan.push_back(one.plan);
    all.push_back(one.loop + one.plan);
    creates += one.creates;
  }
  std::printf(
      "%-12s loop %5.2f ms, plan %5.2f ms, together %5.2f ms (median of %d), worst %.2f ms; "
      "%zu creates a plan\n",
      name, median(loop), median(plan), median(all), kRounds, *std::ranges::max_element(all),
      creates / kRounds);
}

}  // namespace
}  // namespace hostler::dispatch

int main(int argc, char** argv) {
  const std::uint64_t tasks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  hostler::dispatch::run("one size", {8}, tasks);
  hostler::dispatch::run("three sizes", {1, 4, 8}, tasks);
}
