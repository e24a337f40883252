#include <string>
#include <utility>
#include <variant>

#include "tests/sim/world.h"

/// Days on which the cloud has images that the site names by a query, on which disks are left, and
/// on which it takes machines back.
namespace hostler::sim {

void World::make_images() {
  if (!ImageCloud::is_of(seed_)) return;
  images_.emplace(seed_, [this](const std::string& what) { complain(what); });
  images_->name_image(policy_);
}

void World::make_leftovers() {
  if (!LeftoverCloud::is_of(seed_)) return;
  leftovers_.emplace(seed_, cloud_, disk_, [this](const std::string& what) { complain(what); });
  LeftoverCloud::set_rule(policy_);
}

/// Once or twice. What an admin believes is more than the pool may have: on other days that is
/// against what the day checks.
void World::make_crowd() {
  if (!CrowdCloud::is_of(seed_)) return;
  crowd_.emplace(seed_, pool_days_.kind() == PoolDays::Kind::kNone && !has_old_state(),
                 [this](const std::string& what) { complain(what); });
  cloud_.crowd([this](std::vector<model::ListedInstance>& list) {
    crowd_->show(list);
    if (crowd_->is_there()) cloud_.driver_died();  // Creates are held back, repeated ones too.
  });
  for (int n = 0; n < 2; ++n) {
    const Duration from = crowd_->between(20s, day_.trouble * 3 / 4);
    time_.after(from, [this] { crowd_->gather(day_.fleet); });
    time_.after(from + crowd_->between(10s, 40s), [this] { believe_crowd(); });
    time_.after(from + crowd_->between(20s, 90s), [this] { crowd_->leave(); });
  }
}

void World::believe_crowd() {
  if (!kernel_ || calm_) return;
  if (const auto believed = crowd_->believe(kernel_->queries())) post(*believed);
}

/// Each site has one question of a kind. Its answer comes while the daemon lives.
void World::ask(const std::string& question) {
  if (!awaited_.insert(question).second)
    complain("the set is asked about " + question + " while it is asked already");
}

void World::make_notices() {
  if (!NoticeCloud::is_of(seed_)) return;
  notices_.emplace(
      seed_, time_, cloud_, disk_,
      [this](Machine& machine, model::HostInterruption notice) {
        hosts_.print_notice(machine, std::move(notice));
      },
      [this](const std::string& what) { complain(what); });
  cloud_.announce([this](const Machine& machine) { return notices_->listed(machine); });
  notices_->begin(day_.trouble);
}

void World::make_metrics() {
  if (!day_.pool_days || !MetricDays::is_of(seed_) || pool_days_.kind() != PoolDays::Kind::kNone ||
      has_old_state())
    return;
  metrics_.emplace(seed_, disk_, [this](const std::string& what) { complain(what); });
  metrics_->set_policy(policy_, day_.fleet);
  read_metrics();
}

void World::read_metrics() {
  time_.after(MetricDays::interval(), [this] { read_metrics(); });
  if (!kernel_) return;
  if (auto readings = metrics_->read(chance_.faults(), now())) post(*std::move(readings));
}

/// Not beside what counts all hosts as those of one pool.
void World::make_pushes() {
  if (!day_.pool_days || !PushDays::is_of(seed_) || metrics_ || Offerings::is_of(seed_) ||
      pool_days_.kind() != PoolDays::Kind::kNone)
    return;
  pushes_.emplace(
      seed_, time_, [this] { return now(); }, cloud_, disk_,
      [this](dispatch::Event event) { post(std::move(event)); },
      [this](const std::string& what) { complain(what); });
  pushes_->set_policy(policy_);
  pushes_->begin(day_.trouble, policy_, [this] { reload(); });
}

/// The store forgets what is past keeping, and says so to the daemon that had it tidied.
void World::tidy() {
  time_.after(chance_.between(20s, 2min), [this] { tidy(); });
  if (!kernel_) return;
  auto jobs = disk_.forget();
  if (jobs.empty()) return;
  time_.after(chance_.between(1ms, 1s),
              [this, generation = generation_, jobs = std::move(jobs)]() mutable {
                if (generation != generation_) return;
                post(dispatch::WorkForgotten{jobs});
                submit_past(jobs);
              });
}

/// Those who check what the daemon knows hear what it hears.
void World::hear_cloud(const dispatch::Event& event) {
  if (std::holds_alternative<dispatch::ImagesFetched>(event)) awaited_.erase("images");
  if (std::holds_alternative<dispatch::OfferingsFetched>(event)) awaited_.erase("offerings");
  if (std::holds_alternative<dispatch::LeftoversListed>(event)) awaited_.erase("leftovers");
  if (const auto* found = std::get_if<dispatch::ImagesFetched>(&event); images_ && found)
    images_->heard(*found);
  if (!leftovers_) return;
  if (const auto* listed = std::get_if<dispatch::LeftoversListed>(&event))
    leftovers_->heard(*listed, now().mono);
  if (const auto* destroyed = std::get_if<dispatch::LeftoverDestroyed>(&event))
    leftovers_->heard(*destroyed);
}

}  // namespace hostler::sim
