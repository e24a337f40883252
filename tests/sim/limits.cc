#include <set>
#include <string>
#include <variant>

#include "core/base/random.h"
#include "tests/sim/world.h"

/// What users may run at a time, and what they share.
namespace hostler::sim {

/// On some days users may run only so much at a time. Chance is not asked, so that all other days
/// are as they were.
void World::make_limits() {
  if (seed_ % 7 != 5) return;
  Random random(seed_);
  auto& limits = policy_.quotas.principals;
  limits["ann"].running_vcpus_max = 2 + static_cast<std::int64_t>(random.below(9));
  // Hosts count with 0.001 an hour for each vcpu here: they cost less.
  limits["bob"].running_price_per_hour_max =
      model::Micros{2'000 + 1'000 * static_cast<std::int64_t>(random.below(7))};
}

/// Where a job starts, its user runs no more than the limit, by the rows of its jobs.
void World::check_limits(const dispatch::Outbox& committed) {
  std::set<std::string> starters;
  for (const auto& effect : committed.effects) {
    const auto* command = std::get_if<model::HostCommand>(&effect);
    const auto* start = command == nullptr ? nullptr : std::get_if<model::StartAttempt>(command);
    if (start == nullptr) continue;
    if (const auto job = disk_.jobs().find(start->attempt.work); job != disk_.jobs().end())
      starters.insert(job->second.principal);
  }
  for (const auto& [who, quota] : policy_.quotas.principals) {
    if (!starters.contains(who)) continue;  // What is taken over after a restore may be beyond it.
    std::int64_t vcpus = 0, price = 0;
    for (const auto& [id, row] : disk_.jobs()) {
      const auto state = row.record.state;
      if (row.principal != who ||
          (state != model::WorkState::kStarting && state != model::WorkState::kRunning))
        continue;
      vcpus += row.shape.needs.vcpus;
      price += 1'000 * std::int64_t{row.shape.needs.vcpus};  // Their largest share.
    }
    if (quota.running_vcpus_max && vcpus > *quota.running_vcpus_max)
      complain(who + " runs " + std::to_string(vcpus) + " vcpus, and may run " +
               std::to_string(*quota.running_vcpus_max));
    if (quota.running_price_per_hour_max && price > quota.running_price_per_hour_max->value)
      complain(who + " runs more than the price that it may");
  }
}

void World::check_shares() {
  const auto queries = kernel_->queries();
  std::uint64_t running = 0, waiting = 0;
  for (const auto& one : queries.shares(now().mono).principals) {
    running += one.running;
    waiting += one.waiting;
    if (one.use.value < 0 || one.vcpus < 0) complain(one.principal + " has used less than nothing");
  }
  const auto jobs = queries.job_counts();  // queued, starting, running
  if (waiting != jobs[0]) complain(std::to_string(waiting) + " jobs wait as shares count them");
  if (running != jobs[1] + jobs[2])
    complain(std::to_string(running) + " jobs run as shares count them");
}

}  // namespace hostler::sim
