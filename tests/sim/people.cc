#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/sim/world.h"

/// What people want of the site and do to it.
namespace hostler::sim {

namespace {

constexpr dispatch::Ticket kGiveUp = 2'000'000;  ///< Above those of all submits.

/// Needs of days with has_short_ram(): each fits on a large host that has little RAM.
void vary(model::Resources& needs, std::size_t number) {
  if (number % 3 == 0) needs.ram = 7 * kGiB;
  if (number % 3 == 1) needs.ram = 5 * kGiB / 2;
  if (number % 4 == 1) {
    needs.vcpus = model::Vcpus::of_thousandths(250 * (1 + static_cast<std::int64_t>(number % 13)));
    needs.ram = kGiB / 4;
  }
  if (number % 9 == 4) needs = {};
}

}  // namespace

void World::make_people() {
  const std::uint64_t bursts = chance_.in(day_.bursts);
  for (std::uint64_t b = 0; b < bursts; ++b) {
    const Duration when = chance_.between(0s, day_.trouble * 3 / 4);
    for (std::uint64_t n = chance_.in(day_.burst_jobs); n > 0; --n) {
      Wish wish;
      wish.key = "key-" + std::to_string(wishes_.size());
      // One user has most of the work.
      wish.principal = wishes_.size() % 8 == 7 ? "bob" : "ann";
      wish.shape.needs = {.vcpus = 1 + static_cast<std::int32_t>(chance_.below(8)),
                          .gpus = 0,
                          .ram = kGiB,
                          .scratch = 0};
      if (short_disks_ && wishes_.size() % 3 == 0) wish.shape.needs.scratch = kScratchOfJobs;
      if (short_ram_) vary(wish.shape.needs, wishes_.size());
      wish.shape.priority = static_cast<std::int32_t>(chance_.below(3));
      wish.shape.restartable = chance_.chance(0.5);
      if (chance_.chance(0.1)) wish.shape.constraints.types = {"small", "large"};
      if (day_.every_job > 0s) {
        wish.shape = {};
        wish.shape.needs = {.vcpus = 1, .gpus = 0, .ram = kGiB, .scratch = 0};
      }
      if (Cards::are_of(seed_) && day_.every_job == 0s) Cards::vary(wish.shape, wishes_.size());
      wishes_.push_back(wish);
      time_.after(when + chance_.between(0s, day_.burst),
                  [this, index = wishes_.size() - 1] { submit(index); });
    }
  }
  for (std::uint64_t n = chance_.in(day_.meddling); n > 0; --n)
    time_.after(chance_.between(10s, day_.trouble), [this] { meddle(); });
}

/// Not on days of an old state: after it nobody can say whose host is lent.
void World::make_borrowers() {
  if (!day_.leases || !Borrowers::exist(seed_) || has_old_state()) return;
  borrowers_.emplace(
      seed_, time_, disk_, [this](dispatch::Event event) { post(std::move(event)); },
      [this](const std::string& what) { complain(what); });
  borrowers_->make_policy(policy_.pools.front());
  borrowers_->begin(day_.trouble * 3 / 4);
  Accounts* const accounts = borrowers_->accounts();
  if (accounts == nullptr) return;
  hosts_.lend_logins();
  commands_.set_accounts([accounts](const model::RunCommand& command) { accounts->ran(command); });
}

/// Asks until there is an answer: the client key makes it one job.
void World::submit(std::size_t index) {
  const Wish& wish = wishes_[index];
  if (wish.answered) return;
  dispatch::Submit submit;
  submit.ticket = index + 1;
  submit.principal = wish.principal;
  model::WorkItem& item = submit.work.emplace_back();
  item.shape = wish.shape;
  item.client_key = wish.key;
  item.client_digest = "digest";
  post(std::move(submit));
  time_.after(chance_.between(1s, 5s), [this, index] { this->submit(index); });
}

/// A host drains, and small jobs come while it does: its room is free, and is not for them.
void World::submit_beside_drain() {
  if (calm_) return;
  for (std::uint64_t n = chance_.below(3); n > 0; --n) {
    Wish wish;
    wish.key = "key-" + std::to_string(wishes_.size());
    wish.principal = "bob";
    wish.shape.needs = {.vcpus = 1, .gpus = 0, .ram = kGiB, .scratch = 0};
    wish.shape.restartable = chance_.chance(0.5);
    wishes_.push_back(wish);
    time_.after(chance_.between(0s, 30s), [this, index = wishes_.size() - 1] { submit(index); });
  }
}

/// Some want the same once more, by the same client key, when no job has it any more. The daemon
/// knows by now that it has none.
void World::submit_past(const std::vector<model::WorkId>& forgotten) {
  std::set<std::size_t> past;
  for (const auto job : forgotten)
    if (const auto wish = wish_of_.find(job); wish != wish_of_.end()) past.insert(wish->second);
  for (const std::size_t index : past) {
    Wish& wish = wishes_[index];
    if (!wish.answered) continue;
    wish.past.insert(wish.job);
    if (calm_ || !chance_.chance(day_.again)) continue;
    time_.after(chance_.between(0s, 3min), [this, index] {
      Wish& again = wishes_[index];
      if (calm_ || !again.answered || !again.past.contains(again.job)) return;
      again.answered = false;
      submit(index);
    });
  }
}

void World::hear(const dispatch::Reply& answer) {
  if (borrowers_ && borrowers_->hear(answer)) return;
  if (is_greedy(answer) || is_give_up(answer) || answer.ticket == 0 ||
      answer.ticket > wishes_.size())
    return;
  Wish& wish = wishes_[answer.ticket - 1];
  if (!answer.result && offerings_) return;  // No type may fit now; they ask again.
  if (!answer.result) return complain("a submit was refused: " + answer.result.error().message);
  if (answer.result->size() != 1) return complain("one job was submitted, and more are answered");
  const model::WorkId job = answer.result->front();
  if (wish.past.contains(job)) return complain("a client key names a job that is forgotten");
  if (!disk_.jobs().contains(job) && !disk_.forgotten().contains(job))
    return complain("an accepted job is not durable");
  if (wish.answered && wish.job != job) return complain("one client key, two jobs");
  if (chance_.fault(0.2)) return;  // lost on its way to them
  wish.answered = true;
  wish_of_.erase(wish.job);
  wish.job = job;
  wish_of_[job] = answer.ticket - 1;
}

/// An admin or a submitter does something.
void World::meddle() {
  if (calm_) return;
  if (chance_.chance(0.3) && !disk_.jobs().empty()) {
    auto at = disk_.jobs().begin();
    std::advance(at, static_cast<std::ptrdiff_t>(chance_.below(disk_.jobs().size())));
    return post(dispatch::CancelWork{0, "ann", true, at->first});
  }
  if (kernel_ && chance_.chance(0.2)) {
    const auto set = kernel_->queries().sets().front();
    // The admin has looked at the cloud's own page.
    const bool is_right =
        !set.strangers && std::ranges::none_of(set.missing, [&](const model::InstanceId id) {
          return cloud_.has(id);
        });
    if (is_right) return post(dispatch::BelieveList{0, "admin", set.name, set.list});
    hosts_.give_up();
    return post(dispatch::GiveUpUnreachable{0, "admin", set.name});
  }
  if (disk_.instances().empty()) return;
  auto at = disk_.instances().begin();
  std::advance(at, static_cast<std::ptrdiff_t>(chance_.below(disk_.instances().size())));
  switch (chance_.below(4)) {
    case 0:
      return post(dispatch::SetIdleBehavior{0, "admin", at->first, model::IdleBehavior::kDrain});
    case 1:
      return post(dispatch::SetIdleBehavior{0, "admin", at->first, model::IdleBehavior::kRun});
    case 2:
      return post(dispatch::KillInstance{0, "admin", at->first, "maintenance"});
    default:
      return post(dispatch::SetIdleBehavior{0, "admin", at->first, model::IdleBehavior::kHold});
  }
}

/// Asked again, for the daemon may be down or may not have committed it.
void World::release_holds() {
  for (const auto& [id, row] : disk_.instances())
    if (row.record.state != model::InstanceState::kGone &&
        row.record.idle_behavior != model::IdleBehavior::kRun)
      post(dispatch::SetIdleBehavior{0, "admin", id, model::IdleBehavior::kRun});
  time_.after(1min, [this] { release_holds(); });
}

/// On days on which output comes late an admin gives some of it up.
void World::make_give_ups() {
  if (!has_late_output(seed_)) return;
  Random random(seed_ + 2);
  const auto seconds = static_cast<std::uint64_t>(day_.trouble / 1s) * 2;
  for (int n = 0; n < 20; ++n)
    time_.after(Duration(1s) * random.below(seconds), [this, pick = random.next()] {
      std::vector<model::WorkId> late;
      for (const auto& [id, row] : disk_.jobs())
        if (row.record.state == model::WorkState::kCollecting) late.push_back(id);
      if (!late.empty())
        post(dispatch::GiveUpOutput{kGiveUp, "admin", true, late[pick % late.size()]});
    });
}

/// It has ended for good: that ended jobs stay ended is checked for all.
bool World::is_give_up(const dispatch::Reply& answer) {
  if (answer.ticket != kGiveUp) return false;
  const auto row = answer.result ? disk_.jobs().find(answer.result->front()) : disk_.jobs().end();
  if (row == disk_.jobs().end()) return true;
  const auto state = row->second.record.state;
  if (state != model::WorkState::kFailed && state != model::WorkState::kCancelled)
    complain(row->first.text() + "'s output was given up, and it is " + model::to_string(state));
  return true;
}

/// On some days an admin changes what the pool may have.
void World::make_reloads() {
  if (pool_days_.kind() != PoolDays::Kind::kReloads) return;
  Random random(seed_ + 1);
  for (std::uint64_t n = 2 + random.below(4); n > 0; --n) {
    const auto when = 20s + 1ms * static_cast<std::int64_t>(
                                      random.below(static_cast<std::uint64_t>(day_.trouble / 1ms)));
    const auto max = static_cast<std::int32_t>(1 + random.below(4));
    const bool all = random.chance(0.3), no_small = random.chance(0.5);
    time_.after(when, [this, max, all, no_small] {
      if (calm_) return;
      auto& pool = policy_.pools.front();
      pool.sizes.max = all ? day_.fleet : max;
      pool.types.clear();
      if (!offerings_)
        for (const auto& type : policy_.types)
          if (!no_small || type.name != "small") pool.types.push_back(type.name);
      reload();
    });
  }
}

void World::reload() {
  cloud_.forget_boots();  // The daemon does, too.
  post(dispatch::PolicyChanged{policy_});
}

/// The admin reads a config in which nothing is kept without need, and nobody has a limit.
void World::close_down() {
  auto& pool = policy_.pools.front();
  pool.sizes.min = pool.sizes.standby = pool.sizes.stopped = 0;
  pool.sizes.texts = {};
  if (pool_days_.kind() == PoolDays::Kind::kReloads) {
    pool.sizes.max = day_.fleet;
    pool.types.clear();
    if (!offerings_)
      for (const auto& type : policy_.types) pool.types.push_back(type.name);
  }
  if (pushes_) pushes_->close_down(policy_);
  policy_.quotas = {};  // Some jobs need more than their user may run.
  post(dispatch::PolicyChanged{policy_});
}

}  // namespace hostler::sim
