#include <chrono>
#include <filesystem>
#include <future>
#include <utility>

#include "core/daemon/clock.h"
#include "core/daemon/service/service.h"

/// Requests about the daemon itself: its health and its metrics.
namespace hostler::daemon {
namespace {

/// For a look at the loop's state by a thread that waits for it.
constexpr std::chrono::seconds kLookTimeout{5};

}  // namespace

api::HealthView DaemonService::health() {
  const auto store = parts_.store->health();
  api::HealthView view;
  view.version = HOSTLER_VERSION;
  view.revision = *parts_.durable;
  view.ok = store.ok;
  if (!store.ok) view.problems.push_back({"store", store.error});
  if (const auto problem = parts_.store->outputs().problem(); !problem.empty())
    view.problems.push_back({"jobs' output", problem});
  auto looked = std::make_shared<std::promise<std::vector<model::SetView>>>();
  auto sets = looked->get_future();
  parts_.loop->query(
      [looked](const dispatch::Dispatcher& state, Now) { looked->set_value(state.sets()); });
  if (sets.wait_for(kLookTimeout) != std::future_status::ready) {
    view.ok = false;
    view.problems.push_back({"loop", "it does not answer"});
    return view;
  }
  for (const auto& set : sets.get())
    if (!set.problem.empty()) view.problems.push_back({"set " + set.name, set.problem});
  return view;
}

void DaemonService::show_store() const {
  const auto store = parts_.store->health();
  metrics::StoreStatus status;
  status.commits = store.ok;
  status.takes_output = parts_.store->outputs().problem().empty();
  status.waiting = store.queued;
  std::error_code problem;
  const auto disk = std::filesystem::space(parts_.state_dir, problem);
  if (!problem) {
    status.disk_bytes = disk.capacity;
    status.disk_free_bytes = disk.available;
  }
  parts_.metrics->set_store(status);
}

std::string DaemonService::metrics_text() {
  // What is, is looked up when it is asked for; what happened was counted as it happened.
  show_store();
  auto looked = std::make_shared<std::promise<void>>();
  auto done = looked->get_future();
  const std::size_t waiting = parts_.loop->waiting();
  const Mono asked = read_clocks().mono;
  parts_.loop->query([feed = parts_.feed, looked](const dispatch::Dispatcher& state, Now now) {
    feed->set_gauges(state, now);
    looked->set_value();
  });
  done.wait_for(kLookTimeout);
  parts_.metrics->set_loop(waiting, read_clocks().mono - asked);
  return parts_.metrics->text();
}

}  // namespace hostler::daemon
