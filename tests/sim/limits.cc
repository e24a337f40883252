#include <algorithm>
#include <map>
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
  limits["ann"].running_vcpus_max = 2 + static_cast<std::int32_t>(random.below(9));
  // Hosts count with 0.001 an hour for each vcpu here: they cost less.
  limits["bob"].running_price_per_hour_max =
      model::Micros{2'000 + 1'000 * static_cast<std::int64_t>(random.below(7))};
}

/// How much the piece of work counts for the limits of its user: a lease holds its whole host.
model::Vcpus World::held_vcpus(const model::WorkItem& row) const {
  const auto state = row.record.state;
  const bool is_lease = row.record.id.kind == model::WorkKind::kLease;
  const bool holds = state == model::WorkState::kStarting || state == model::WorkState::kRunning ||
                     (is_lease && state == model::WorkState::kCollecting);
  if (!holds) return {};
  const auto* host = is_lease ? disk_.instance(row.record.instance) : nullptr;
  return host == nullptr ? row.shape.needs.vcpus : host->record.total.vcpus;
}

/// Where a job starts or a host is lent, its user has no more than the limit, by the rows of its
/// work.
void World::check_limits(const dispatch::Outbox& committed) {
  std::set<std::string> starters;
  const auto starts = [&](model::WorkId id) {
    if (const auto row = disk_.jobs().find(id); row != disk_.jobs().end())
      starters.insert(row->second.principal);
  };
  for (const auto& change : committed.changes)
    if (const auto* row = std::get_if<model::LedgerRecord>(&change);
        row != nullptr && row->event == model::Event::kGranted)
      starts(model::WorkId::parse(row->subject).value());
  for (const auto& effect : committed.effects) {
    const auto* command = std::get_if<model::HostCommand>(&effect);
    const auto* start = command == nullptr ? nullptr : std::get_if<model::StartAttempt>(command);
    if (start != nullptr) starts(start->attempt.work);
  }
  for (const auto& [who, quota] : policy_.quotas.principals) {
    if (!starters.contains(who)) continue;  // What is taken over after a restore may be beyond it.
    model::Vcpus vcpus;
    std::int64_t price = 0;
    for (const auto& [id, row] : disk_.jobs()) {
      if (row.principal != who) continue;
      const model::Vcpus held = held_vcpus(row);
      vcpus += held;
      price += held.thousandths();  // Their largest share.
    }
    if (quota.running_vcpus_max && vcpus > *quota.running_vcpus_max)
      complain(who + " runs " + to_string(vcpus) + " vcpus, and may run " +
               to_string(*quota.running_vcpus_max));
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
  const auto jobs = queries.job_counts();                 // queued, starting, running
  const auto leases = queries.totals(now().mono).leases;  // also ending
  if (waiting != jobs[0] + leases[0])
    complain(std::to_string(waiting) + " jobs and leases wait as shares count them");
  if (running != jobs[1] + jobs[2] + leases[1] + leases[2] + leases[3])
    complain(std::to_string(running) + " jobs and leases run as shares count them");
}

/// The rows of what hosts have reported of their RAM are true, and plans count with them, also
/// after a restart.
void World::check_ram() {
  const auto queries = kernel_->queries();
  const auto& types = queries.policy().types;
  std::map<std::string, std::int64_t> for_jobs;
  for (const auto& type : queries.types()) for_jobs[type.name] = type.ram_for_jobs;
  for (const auto& [key, row] : disk_.ram_reports()) {
    if (row.ram < row.menu_ram / 2 || row.ram > row.menu_ram)
      complain("type " + row.type + " has learned a RAM that it must not");
    // Rows are rounded down to a 256th of the menu's RAM, which is the most that counts.
    const std::int64_t step = row.menu_ram / 256;
    const bool is_all = row.ram >= row.menu_ram - step;
    if (!hosts_.has_reported(row.type, row.ram, is_all ? INT64_MAX : row.ram + step))
      complain("no host of type " + row.type + " has reported the RAM that counts");
    const auto type = std::ranges::find(types, row.type, &model::InstanceType::name);
    if (type != types.end() && for_jobs[row.type] > model::ram_for_jobs(row.ram, type->reserve))
      complain("plans count with more RAM of type " + row.type + " than its hosts reported");
  }
}

}  // namespace hostler::sim
