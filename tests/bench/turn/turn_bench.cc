// The CPU time of one turn of the daemon's loop, for the largest events that the limits allow:
// while one is handled, nothing else is. Each is measured on a site of its own, five times; the
// median is printed, the worst first. usage: turn_bench [HOSTS [JOBS]]     10,000 hosts, 100,000
// jobs, which is jobs_per_submit_max

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/dispatcher.h"
#include "tests/bench/ready_hosts.h"

namespace hostler::dispatch {
namespace {

using namespace std::chrono_literals;

double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// As many instances as one list may show.
constexpr std::uint64_t kCrowd = 90'000;
/// Of the loop: until a list of them is done, and until they are adopted.
constexpr int kTurns = 30, kAdoptionTurns = 900;

/// A dispatcher whose hosts are ready and idle.
class Site {
 public:
  explicit Site(std::uint64_t hosts) : kernel_(policy(hosts), numbered_secrets(), {}) {
    model::Restored rows;
    rows.owner = "us";
    rows.epoch = 3;
    for (std::uint64_t h = 1; h <= hosts; ++h) rows.instances.push_back(ready_host(h));
    rows.last_instance = hosts;
    take(kernel_.restore(std::move(rows), now_));
    model::SetInfo info;
    info.list_consistency = 1s;
    info.max_concurrency = 16;
    say(SetOpened{"west", info});
    say(listed_hosts(hosts, now_.mono));
    for (std::uint64_t h = 1; h <= hosts; ++h)
      for (auto& report : reports_of_ready_host(h)) say(std::move(report));
    pass(1s);
    if (wanted_) say(plan());
  }

  void say(Event event) { take(kernel_.apply(std::move(event), now_)); }
  double time_of(Event event) {
    const double began = cpu_ms();
    Outbox out = kernel_.apply(std::move(event), now_);
    const double took = cpu_ms() - began;
    take(std::move(out));
    return took;
  }
  /// From now on a crowd of strangers is doubted.
  void doubt() { say(PolicyChanged{policy(0, 1000)}); }
  /// The longest turn until nothing is left to do about the list: its own, or a later one.
  double longest_of(SetListed shown, int turns) {
    double longest = time_of(std::move(shown));
    for (int turn = 0; turn < turns; ++turn) {
      now_ = {now_.mono + 100ms, now_.wall + 100ms};
      const double began = cpu_ms();
      Outbox out = kernel_.tick(now_);
      longest = std::max(longest, cpu_ms() - began);
      take(std::move(out));
    }
    return longest;
  }
  /// Of a tick that makes the snapshot of a plan.
  double time_of_snapshot() {
    now_ = {now_.mono + 1s, now_.wall + 1s};
    const double began = cpu_ms();
    Outbox out = kernel_.tick(now_);
    const double took = cpu_ms() - began;
    take(std::move(out));
    return took;
  }
  /// Of the copies for a dump.
  [[nodiscard]] double time_of_dump() const {
    const auto state = kernel_.queries();
    const double began = cpu_ms();
    [[maybe_unused]] const auto copies =
        std::tuple(state.pools(), state.sets(now_), state.instances(now_), state.gates(now_.mono),
                   state.dump_parts(now_), state.look(now_));
    return cpu_ms() - began;
  }
  void pass(Duration time) {
    now_ = {now_.mono + time, now_.wall + time};
    take(kernel_.tick(now_));
  }
  /// The plan that the last tick has asked for.
  [[nodiscard]] PlanMade plan() const {
    return {wanted_->number, scheduler::make_plan(*wanted_->snapshot, *wanted_->policy)};
  }
  /// Jobs of so many different needs.
  static Submit jobs(std::uint64_t count, std::uint64_t needs) {
    Random random(1);
    std::vector<model::WorkShape> shapes(needs);
    for (auto& shape : shapes)
      shape.needs = {.vcpus = static_cast<std::int32_t>(1 + random.below(8)),
                     .gpus = 0,
                     .ram = static_cast<std::int64_t>(1 + random.below(8192)) * kMiB,
                     .scratch = 0};
    Submit out{.ticket = 1, .principal = "user ann", .work = {}};
    out.work.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) out.work[i].shape = shapes[i % needs];
    return out;
  }
  [[nodiscard]] Mono now() const { return now_.mono; }
  static model::SitePolicy policy(std::uint64_t hosts, std::int32_t more = 20'000) {
    model::SitePolicy out;
    for (std::int32_t i = 1; i <= 64; ++i) {
      auto& type = out.types.emplace_back();
      type.name = type.provider_type = "t" + std::to_string(i);
      type.resources = {.vcpus = i, .gpus = 0, .ram = i * 2048 * kMiB, .scratch = 0};
      type.price_per_hour = {i * 10'000};
    }
    out.sets.emplace_back().name = "west";
    auto& pool = out.pools.emplace_back();
    pool.name = "default";
    pool.sets = {"west"};
    for (const auto& type : out.types) pool.types.push_back(type.name);
    pool.sizes.max = static_cast<std::int32_t>(hosts) + more;
    pool.idle_timeout = 1h;
    return out;
  }

 private:
  void take(Outbox out) {
    for (auto& effect : out.effects)
      if (auto* plan = std::get_if<MakePlan>(&effect)) wanted_ = std::move(*plan);
  }

  Dispatcher kernel_;
  Now now_{Mono(100h), Wall{1'700'000'000'000'000}};
  std::optional<MakePlan> wanted_;
};

struct Case {
  std::string name;
  std::function<double(Site&)> time;
  bool has_hosts = true;
};

std::vector<Case> cases(std::uint64_t hosts, std::uint64_t jobs) {
  const std::string h = std::to_string(hosts), j = std::to_string(jobs),
                    crowd = std::to_string(kCrowd);
  const auto submit = [=](std::uint64_t needs) {
    return [=](Site& site) { return site.time_of(Site::jobs(jobs, needs)); };
  };
  const auto with_jobs = [=](std::uint64_t needs, std::function<double(Site&)> time) {
    return [=](Site& site) {
      site.say(Site::jobs(jobs, needs));
      return time(site);
    };
  };
  const auto plan = [](Site& site) {
    site.pass(1s);
    return site.time_of(site.plan());
  };
  return {
      {"a submit of " + j + " jobs of one shape", submit(1)},
      {"a submit of " + j + " jobs of 10000 shapes", submit(10'000)},
      {"the snapshot of " + h + " hosts and " + j + " jobs of 10000 shapes",
       with_jobs(10'000, [](Site& site) { return site.time_of_snapshot(); })},
      {"the copies for a dump of " + h + " hosts and " + j + " jobs of 10000 shapes",
       with_jobs(10'000, [](const Site& site) { return site.time_of_dump(); })},
      {"a plan that starts jobs on " + h + " hosts", with_jobs(1, plan)},
      {"a plan that creates hosts for " + j + " jobs", with_jobs(100, plan), false},
      {"a list of " + h + " instances",
       [=](Site& site) { return site.longest_of(listed_hosts(hosts, site.now()), kTurns); }},
      {"the same list again",
       [=](Site& site) {
         for (int n = 0; n < 2; ++n) {
           site.pass(1min);
           site.say(listed_hosts(hosts, site.now()));
         }
         return site.time_of(listed_hosts(hosts, site.now()));
       }},
      {"a doubted list of " + crowd + " strangers",
       [=](Site& site) {
         site.doubt();
         return site.longest_of(listed_hosts(kCrowd, site.now()), kTurns);
       },
       false},
      {"another doubted list of them",
       [=](Site& site) {
         site.doubt();
         (void)site.longest_of(listed_hosts(kCrowd, site.now()), kTurns);
         site.pass(1min);
         return site.longest_of(listed_hosts(kCrowd, site.now()), kTurns);
       },
       false},
      {"the longest turn while " + crowd + " strangers are adopted",
       [=](Site& site) {
         return site.longest_of(listed_hosts(kCrowd, site.now()), kAdoptionTurns);
       },
       false},
      {"a list of them once they are adopted",
       [=](Site& site) {
         (void)site.longest_of(listed_hosts(kCrowd, site.now()), kAdoptionTurns);
         (void)site.longest_of(listed_hosts(kCrowd, site.now()), kTurns);  // None is overdue now.
         return site.longest_of(listed_hosts(kCrowd, site.now()), kTurns);
       },
       false},
      {"an empty list where " + h + " instances are known",
       [](Site& site) { return site.time_of(listed_hosts(0, site.now())); }},
      {"another policy beside " + h + " hosts and " + j + " jobs",
       with_jobs(10'000,
                 [=](Site& site) {
                   auto policy = Site::policy(hosts);
                   policy.pools[0].sizes.max = 1;
                   return site.time_of(PolicyChanged{std::move(policy)});
                 })},
  };
}

int run(std::uint64_t hosts, std::uint64_t jobs) {
  std::vector<std::pair<double, std::string>> out;
  for (const Case& one : cases(hosts, jobs)) {
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
      Site site(one.has_hosts ? hosts : 0);
      times.push_back(one.time(site));
    }
    std::ranges::nth_element(times, times.begin() + 2);
    out.emplace_back(times[2], one.name);
  }
  std::ranges::sort(out, std::ranges::greater{});
  for (const auto& [ms, name] : out) std::printf("%9.2f ms  %s\n", ms, name.c_str());
  return 0;
}

}  // namespace
}  // namespace hostler::dispatch

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  return hostler::dispatch::run(number(1, 10'000), number(2, 100'000));
}
