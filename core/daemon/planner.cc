#include "core/daemon/planner.h"

#include <utility>

#include "core/scheduler/plan.h"

namespace hostler::daemon {

Planner::Planner(model::SitePolicy policy, Made made)
    : made_(std::move(made)),
      policy_(std::make_shared<const model::SitePolicy>(std::move(policy))),
      thread_([this] { run(); }) {}

Planner::~Planner() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void Planner::make(dispatch::MakePlan request) {
  {
    const std::lock_guard lock(mutex_);
    request_ = std::move(request);
  }
  woken_.notify_one();
}

void Planner::set_policy(model::SitePolicy policy) {
  auto next = std::make_shared<const model::SitePolicy>(std::move(policy));
  const std::lock_guard lock(mutex_);
  policy_ = std::move(next);
}

void Planner::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    woken_.wait(lock, [this] { return stopping_ || request_; });
    if (stopping_) return;
    const dispatch::MakePlan request = *std::exchange(request_, std::nullopt);
    const auto policy = policy_;
    lock.unlock();
    made_({request.number, scheduler::make_plan(*request.snapshot, *policy)});
    lock.lock();
  }
}

}  // namespace hostler::daemon
