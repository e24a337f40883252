// A day of 1,000 hosts: the kernel and the planner that the daemon runs, in the world of tests/sim.
// usage: sim_bench [SEED [SECONDS]]    the cloud is listed no more often than every SECONDS

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "tests/sim/world.h"

namespace hostler::sim {
namespace {

Day of_a_thousand_hosts(Duration list_interval_min) {
  Day day;
  day.trouble = 24h;
  day.patience = 12h;
  day.fleet = 1000;
  day.ceilings = false;
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

void print(const Tally& tally, double wall, double cpu) {
  std::printf("%.2f s (%.2f s of CPU)\n", wall, cpu);
  std::printf("%" PRIu64 " jobs, %" PRIu64 " instances, %zu machines at once, %.0f machine hours\n",
              tally.jobs, tally.instances, tally.machines_at_once,
              std::chrono::duration<double, std::ratio<3600>>(tally.machine_time).count());
  std::printf("%" PRIu64 " events, %" PRIu64 " plans, %" PRIu64 " commits, %" PRIu64
              " starts of the daemon\n",
              tally.events, tally.plans, tally.commits, tally.starts_of_daemon);
}

int run(std::uint64_t seed, Duration list_interval_min) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  World world(seed, of_a_thousand_hosts(list_interval_min));
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
  return hostler::sim::run(number(1, 1), std::chrono::seconds(number(2, 10)));
}
