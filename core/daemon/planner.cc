#include "core/daemon/planner.h"

#include <pthread.h>

#include <utility>

#include "core/base/clock.h"
#include "core/scheduler/plan.h"

namespace hostler::daemon {
namespace {

void count_actions(metrics::Metrics& metrics, const scheduler::Plan& plan) {
  std::size_t placed = 0;
  for (const auto& place : plan.places) placed += place.count;
  metrics.planned("place", placed);
  metrics.planned("wake", plan.wakes.size());
  metrics.planned("create", plan.creates.size());
  metrics.planned("switch_off", plan.switch_offs.size());
  metrics.planned("drain", plan.drains.size());
  metrics.planned("shutdown", plan.shutdowns.size());
}

}  // namespace

Planner::Planner(metrics::Metrics& metrics, Made made)
    : metrics_(metrics), made_(std::move(made)), thread_([this] { run(); }) {}

Planner::~Planner() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void Planner::make(dispatch::MakePlan request) {
  {
    const MutexLock lock(mutex_);
    request_ = std::move(request);
  }
  woken_.notify_one();
}

void Planner::run() {
  pthread_setname_np(pthread_self(), "planner");
  const MutexLock lock(mutex_);
  for (;;) {
    woken_.wait(mutex_, [this]() HOSTLER_REQUIRES(mutex_) { return stopping_ || request_; });
    if (stopping_) return;
    const dispatch::MakePlan request = *std::exchange(request_, std::nullopt);
    const MutexUnlock unlocked(mutex_);
    const Mono began = read_clocks().mono;
    auto plan = scheduler::make_plan(*request.snapshot, *request.policy);
    metrics_.plan_made(read_clocks().mono - began);
    count_actions(metrics_, plan);
    made_({request.number, std::move(plan)});
  }
}

}  // namespace hostler::daemon
