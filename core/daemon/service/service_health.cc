#include <chrono>
#include <filesystem>
#include <future>
#include <string>
#include <utility>

#include "core/api/tls.h"
#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/daemon/service/service.h"

/// Requests about the daemon itself: its health and its metrics.
namespace hostler::daemon {
namespace {

/// How long a thread waits for the loop's answer to a query.
constexpr std::chrono::seconds kQueryTimeout{5};

void add_problems(const model::SetView& set, api::HealthView& view) {
  const std::string name = "set " + set.name;
  if (!set.problem.empty()) view.problems.push_back({name, set.problem});
  for (const auto& text : set.conditions) view.problems.push_back({name, text});
}

/// What it costs that output cannot be fetched.
std::string waiting_hosts(const model::Totals& totals) {
  if (totals.collecting_hosts == 0) return "";
  return "; output waits on " + std::to_string(totals.collecting_hosts) + " hosts, which cost " +
         format_money(totals.collecting_price_per_hour.value) + " per hour";
}

/// Empty: there is room for all.
std::string disk_problem(const Result<void>& room, const model::Totals& totals) {
  if (!room) return room.error().message + waiting_hosts(totals);
  if (totals.waiting_outputs == 0) return "";
  return "the disk of the state folder has no room for the output of " +
         std::to_string(totals.waiting_outputs) +
         " jobs (make room, delete kept outputs with 'hostler outputs rm', or do without that of a "
         "job with 'hostler outputs give-up')" +
         waiting_hosts(totals);
}

}  // namespace

api::HealthView DaemonService::health() {
  const auto store = uses_.store->health();
  api::HealthView view;
  view.version = HOSTLER_VERSION;
  view.revision = *uses_.durable;
  view.ok = store.ok;
  if (!store.ok) view.problems.push_back({"store", store.error});
  if (const auto old = uses_.store->old_state(); !old.empty()) {
    view.ok = false;
    view.problems.push_back({"state", "it is old: " + old + "; nothing is started or ended"});
  }
  if (const auto problem = uses_.store->outputs().problem(); !problem.empty())
    view.problems.push_back({"jobs' output", problem});
  const auto room = uses_.store->check_room();
  if (const auto end = uses_.certificate_end())
    if (const auto problem = api::expiry_problem(*end, read_clocks().wall))
      view.problems.push_back({"TLS certificate", "it " + *problem});
  for (auto& problem : uses_.reload->problems())
    view.problems.push_back({"configuration", std::move(problem)});
  struct CloudState {
    std::vector<model::SetView> sets;
    std::vector<model::PoolView> pools;
    std::vector<model::GateRecord> gates;
    model::Totals totals;
  };
  auto promise = std::make_shared<std::promise<CloudState>>();
  auto future = promise->get_future();
  uses_.loop->query([promise, driver = uses_.driver](const dispatch::Queries& state, Now now) {
    promise->set_value({sets_with_drivers(state, driver, now), state.pools(), state.gates(now.mono),
                        state.totals(now.mono)});
  });
  if (future.wait_for(kQueryTimeout) != std::future_status::ready) {
    view.ok = false;
    view.problems.push_back({"loop", "it does not answer"});
    return view;
  }
  const CloudState clouds = future.get();
  if (const auto text = disk_problem(room, clouds.totals); !text.empty())
    view.problems.push_back({"disk", text});
  for (const auto& set : clouds.sets) add_problems(set, view);
  for (const auto& pool : clouds.pools)
    for (const auto& text : pool.conditions) view.problems.push_back({"pool " + pool.name, text});
  for (const auto& gate : clouds.gates)
    if (gate.cls == model::CloudErrorClass::kBoot || gate.cls == model::CloudErrorClass::kPrice)
      view.problems.push_back({"gate " + gate.key, gate.message});
  return view;
}

void DaemonService::set_store_gauges() const {
  const auto store = uses_.store->health();
  metrics::StoreStatus status;
  status.commits = store.ok;
  status.takes_output = uses_.store->outputs().problem().empty();
  status.waiting = store.queued;
  status.disk_full = !uses_.store->check_room();
  std::error_code problem;
  const auto disk = std::filesystem::space(uses_.state_dir, problem);
  if (!problem) {
    status.disk_bytes = disk.capacity;
    status.disk_free_bytes = disk.available;
  }
  uses_.metrics->set_store(status);
  uses_.metrics->set_reload_refused(!uses_.reload->problems().empty());
}

std::string DaemonService::metrics_text() {
  // Counters are kept up to date all the time, gauges are set for each answer.
  set_store_gauges();
  if (const auto end = uses_.certificate_end())
    uses_.metrics->set_certificate(*end - read_clocks().wall);
  auto promise = std::make_shared<std::promise<void>>();
  auto done = promise->get_future();
  const std::size_t waiting = uses_.loop->waiting();
  const Mono asked = read_clocks().mono;
  uses_.loop->query([feed = uses_.feed, promise](const dispatch::Queries& state, Now now) {
    feed->set_gauges(state, now);
    promise->set_value();
  });
  done.wait_for(kQueryTimeout);
  uses_.metrics->set_loop(waiting, read_clocks().mono - asked);
  return uses_.metrics->text();
}

}  // namespace hostler::daemon
