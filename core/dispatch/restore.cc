#include <algorithm>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// After a restart: what the journal knew is taken up as it stood; what clouds and hosts say then
/// corrects it.
namespace hostler::dispatch {

Result<void> check_homes(const model::Restored& restored, const model::SitePolicy& policy) {
  const auto has = [](const auto& named, const std::string& name) {
    return std::ranges::any_of(named, [&](const auto& one) { return one.name == name; });
  };
  for (const auto& [record, create, used_up] : restored.instances) {
    if (record.state == model::InstanceState::kAbandoned) continue;
    const bool no_set = !has(policy.sets, record.set);
    if (!no_set && has(policy.pools, record.pool)) continue;
    return fail(Errc::kConflict,
                "the configuration has no " +
                    (no_set ? "instance set '" + record.set : "pool '" + record.pool) +
                    "', and the journal has instances of it, " + record.id.text() + " (" +
                    (record.provider_id.empty() ? "still asked for" : record.provider_id) +
                    ") for one: put it back, end them (hostler drain, hostler kill), and remove it "
                    "when they are gone");
  }
  return {};
}

Outbox Dispatcher::restore(model::Restored restored, Now now) {
  owner_ = restored.owner;
  epoch_ = restored.epoch;
  revision_ = restored.last_revision;
  last_work_ = restored.last_work;
  last_instance_ = restored.last_instance;
  last_arrival_ = restored.last_arrival;
  for (Set& set : sets_) set.open_at = now.mono;
  for (const auto& gate : restored.gates) gates_.restore(gate, now);
  for (const auto& price : restored.prices) prices_.restore(price);
  build_offerings();
  for (auto& key : restored.client_keys)
    client_keys_.add(std::move(key.principal), std::move(key.key),
                     {std::move(key.digest), key.work});
  for (auto& row : restored.instances) restore(std::move(row), now);
  for (auto& row : restored.work) restore(std::move(row), now);
  for (const auto& row : restored.attempts) restore(row);
  lose_homeless(now);
  adopt_all(now);
  record("restart", "site", model::Event::kStarted, "", "epoch " + std::to_string(epoch_), now);
  opened("restart", gates_.settings_changed(), "the configuration was read again", now);
  touch_all();
  return take_outbox();
}

void Dispatcher::restore(model::InstanceChanged row, Now now) {
  const model::InstanceId id = row.record.id;
  const auto set = set_index(row.record.set);
  if (!set) {
    // check_homes() lets abandoned ones pass: nothing can be done to it, nothing is forgotten.
    has_orphans_ = true;
    record("admin", id.text(), model::Event::kSetMissing, row.record.set,
           "its instance set is not in the configuration", now);
    return;
  }
  Host& made = hosts_[id];
  made.create = std::move(row.create);
  auto& instance = made.instance;
  instance.record = std::move(row.record);
  instance.set = *set;
  for (std::uint32_t i = 0; i < policy_.pools.size(); ++i)
    if (policy_.pools[i].name == instance.record.pool) instance.pool = i;
  instance.type = type_index(instance.record.type);
  remember(instance.record);
  count(made);
  const Duration age =
      instance.record.created.us == 0 ? Duration::max() : now.wall - instance.record.created;
  if (age >= Duration::zero() && age < std::chrono::minutes(1))
    governor_.create_sent(instance.set, instance.pool, now.mono - age);
}

void Dispatcher::restore(model::WorkItem row, Now now) {
  work::Job& made = jobs_[row.record.id];
  made.id = row.record.id;
  made.arrival = row.arrival;
  made.cls = queue_.intern(row.shape);
  made.principal = principal(row.principal);
  made.attempts_max = row.shape.attempts_max;
  made.restartable = row.shape.restartable;
  made.queued = row.record.state == model::WorkState::kQueued;
  if (row.record.attempt > 0 || !made.queued)
    made.record = std::make_unique<model::WorkRecord>(std::move(row.record));
  made.counted = made.state();
  ++job_counts_[static_cast<std::size_t>(made.counted)];
  // By a wall clock that may have jumped: within reason.
  const Duration age =
      std::clamp<Duration>(now.wall - row.submitted, Duration::zero(), std::chrono::hours(24));
  if (made.queued) queue_.push(made.cls, {made.arrival, made.id, now.mono - age});
}

void Dispatcher::restore(const model::AttemptChanged& row) {
  Host* where = change(row.instance);
  const work::Job* owner = job_of(row.attempt);
  if (where == nullptr || owner == nullptr || owner->queued) return;
  auto& instance = where->instance;
  Live one{row.attempt, row.boot_id, row.sequence, queue_.at(owner->cls).shape.needs, false};
  instance.used += one.needs;
  ++instance.attempts;
  instance.record.last_sequence = std::max(instance.record.last_sequence, row.sequence);
  where->attempts.push_back(std::move(one));
  if (row.state == model::AttemptState::kEnded) release(*where, where->attempts.back());
}

void Dispatcher::lose_homeless(Now now) {
  std::vector<model::WorkId> homeless;
  for (const auto& [id, one] : jobs_) {
    if (one.queued) continue;
    Host* where = change(one.record->instance);
    if (where == nullptr || live(*where, one.attempt()) == nullptr) homeless.push_back(id);
  }
  std::ranges::sort(homeless);
  for (const auto id : homeless)
    settle(*job(id), work::host_gone(*job(id), "its instance is gone", now), now);
}

void Dispatcher::adopt_all(Now now) {
  std::vector<model::InstanceId> ids;
  for (const auto& [id, other] : hosts_) ids.push_back(id);
  for (const auto id : ids) {
    Host& adopted = hosts_.at(id);
    settle(adopted,
           fleet::adopt(adopted.instance, policy_.pools[adopted.instance.pool],
                        policy_.abandoned_for, !adopted.attempts.empty(), now),
           "restart", now);
  }
}

}  // namespace hostler::dispatch
