// A day of 1,000 hosts: the kernel and the planner that the daemon runs, in the world of tests/sim.
// usage: sim_bench [SEED [SECONDS]]    the cloud is listed no more often than every SECONDS
//        sim_bench short [SEED]        40 cores of jobs of 5 s, for two hours: machines per job

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "tests/sim/world.h"

namespace hostler::sim {
namespace {

Day of_a_thousand_hosts(Duration list_interval_min) {
  Day day;
  day.trouble = 24h;
  day.patience = 12h;
  day.fleet = 1000;
  day.ceilings = day.pool_days = day.leases = false;
  day.list_interval_min = list_interval_min;
  day.keep_alive = 1min;
  day.bursts = {24, 24};
  day.burst_jobs = {1000, 2000};
  day.burst = 10min;
  day.longest_job = 2h;
  day.again = 0;
  day.faults = 0.02;
  day.kills = {3, 3};
  day.machines_lost = {20, 20};
  day.connections_lost = {100, 100};
  day.clock_jumps = {1, 1};
  day.barren = 0;
  day.spells = day.partitions = {0, 0};
  day.ids_lie = day.greedy = day.liars = day.old_states = 0;
  day.meddling = {50, 50};
  return day;
}

/// Eight jobs of five seconds and one vcpu come in each second. Boots last longer than jobs, so a
/// host that is bought for a job is often no longer needed when it is ready.
Day of_short_jobs() {
  Day day;
  day.trouble = 10s;
  day.patience = 12h;
  day.fleet = 100;
  day.ceilings = day.pool_days = day.leases = false;
  day.keep_alive = 1min;
  day.bursts = {1, 1};
  day.burst_jobs = {57'600, 57'600};
  day.burst = 2h;
  day.every_job = 5s;
  day.idle_timeout = 1min;
  day.again = day.faults = day.barren = 0;
  day.kills = day.machines_lost = day.connections_lost = day.clock_jumps = {0, 0};
  day.spells = day.partitions = day.meddling = {0, 0};
  day.ids_lie = day.greedy = day.liars = day.old_states = 0;
  return day;
}

void print(const Tally& tally, double wall, double cpu) {
  std::printf("%.2f s (%.2f s of CPU)\n", wall, cpu);
  std::printf("%" PRIu64 " jobs, %" PRIu64 " instances, %zu machines at once, %.0f machine hours\n",
              tally.jobs, tally.instances, tally.machines_at_once,
              std::chrono::duration<double, std::ratio<3600>>(tally.machine_time).count());
  std::printf("%" PRIu64 " instances (%.0f %%) have never run a job\n", tally.unused,
              100.0 * static_cast<double>(tally.unused) /
                  static_cast<double>(std::max<std::uint64_t>(1, tally.instances)));
  std::printf("%" PRIu64 " events, %" PRIu64 " plans, %" PRIu64 " commits, %" PRIu64
              " starts of the daemon\n",
              tally.events, tally.plans, tally.commits, tally.starts_of_daemon);
}

int run(std::uint64_t seed, const Day& day) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  World world(seed, day);
  const auto wrong = world.run();
  const std::chrono::duration<double> wall = Clock::now() - began;
  print(world.tally(), wall.count(), static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  if (wrong) {
    std::fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, wrong->c_str());
    return 1;
  }
  std::printf("nothing is left: every job has ended, every machine is gone\n");
  return 0;
}

}  // namespace
}  // namespace hostler::sim

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  using namespace hostler::sim;
  if (argc > 1 && std::string_view(argv[1]) == "short") return run(number(2, 1), of_short_jobs());
  return run(number(1, 1), of_a_thousand_hosts(std::chrono::seconds(number(2, 10))));
}
