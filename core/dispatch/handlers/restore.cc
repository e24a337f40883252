#include "core/dispatch/handlers/restore.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hostler::dispatch {

bool Restore::apply(model::Restored restored, Now now) {
  recorder_.restore(restored.owner, restored.epoch, restored.last_revision);
  hosts_.restore_last(restored.last_instance);
  lost_time_.restore(restored);
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    sets_.at(i).opening.want_now(now.mono);
    sets_.at(i).lists.begin(policy_.sets[i].list_interval, now.mono);
  }
  for (const auto& gate : restored.gates) gates_.restore(gate, now);
  for (const auto& price : restored.prices) menu_.restore(price);
  for (const auto& report : restored.ram_reports) menu_.restore(report);
  for (const auto& report : restored.gpu_reports) menu_.restore(report);
  for (auto& forgotten : menu_.settle_reports()) recorder_.change(std::move(forgotten));
  menu_.rebuild();
  for (auto& unwanted : images_.restore(restored.images, now))
    recorder_.change(std::move(unwanted));
  sets_.restore(restored.accounts, restored.damaged);
  for (const auto& row : restored.damaged)
    if (row.table != "sets") set_aside_.add(row);
  set_aside_.count(policy_, governor_);
  if (restored.goes_on) tell_restored(restored, now);
  bool has_orphans = false;
  for (auto& row : restored.instances) has_orphans |= !take(std::move(row), now);
  work_.apply(restored, now);
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    auto& first = sets_.at(i).first_list;
    first.holds_creates = restored.restored_epoch != 0 || restored.doubted;
    first.rows_end = restored.doubted;
    if (!restored.doubted) adopt(i, now);
  }
  recorder_.record("restart", "site", model::Event::kStarted, "",
                   "epoch " + std::to_string(restored.epoch), now);
  gates_.restarted(now);
  hosts_.touch_all();
  return has_orphans;
}

void Restore::tell_restored(const model::Restored& restored, Now now) {
  std::size_t held = 0;
  for (const auto& item : restored.work) {
    if (item.record.state != model::WorkState::kHeld) continue;
    ++held;
    recorder_.record("admin", item.record.id.text(), model::Event::kHeld, "",
                     item.record.reason_text, now);
  }
  recorder_.record("admin", "site", model::Event::kRestored, "",
                   std::to_string(held) +
                       " jobs and leases are held, and new numbers begin above " +
                       std::to_string(restored.last_work),
                   now);
}

/// False: its set is not in the policy.
bool Restore::take(model::InstanceChanged row, Now now) {
  const auto set = sets_.index_of(row.record.set);
  if (!set) {
    // check_homes() lets abandoned ones pass: nothing can be done to it, nothing is forgotten.
    recorder_.record("admin", row.record.id.text(), model::Event::kSetMissing, row.record.set,
                     "its instance set is not in the configuration", now);
    return false;
  }
  Host known;
  known.create = std::move(row.create);
  if (known.create) known.image = known.create->type.image_id;
  auto& instance = known.instance;
  instance.record = std::move(row.record);
  instance.set = *set;
  for (std::uint32_t i = 0; i < policy_.pools.size(); ++i)
    if (policy_.pools[i].name == instance.record.pool) instance.pool = i;
  instance.type = menu_.type_index(instance.record.type);
  Host& added = hosts_.restore(std::move(known));
  steps_.count(added, now);
  const Wall created = added.instance.record.created;
  const Duration age = created.us == 0 ? Duration::max() : now.wall - created;
  if (age >= Duration::zero() && age < std::chrono::minutes(1))
    governor_.create_sent(*set, added.instance.pool, now.mono - age);
  return true;
}

void Restore::adopt(std::uint32_t set, Now now) {
  std::vector<model::InstanceId> ids;
  for (const auto& [id, host] : hosts_.all())
    if (host.instance.set == set) ids.push_back(id);
  for (const auto id : ids) boots_.restore(*hosts_.change(id), now);
  for (const auto id : ids) {
    Host& host = *hosts_.change(id);
    const bool has_work = !host.instance.empty();
    steps_.apply(host,
                 fleet::adopt(host.instance, policy_.pools[host.instance.pool],
                              policy_.abandoned_for, has_work, now),
                 "restart", now);
  }
}

}  // namespace hostler::dispatch
