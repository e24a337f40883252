#include "core/daemon/metrics_feed.h"

#include <utility>

namespace hostler::daemon {

using metrics::BootOutcome;
using metrics::Milestone;
using model::InstanceState;

void MetricsFeed::observe(const std::vector<model::Change>& changes) {
  for (const auto& change : changes)
    if (const auto* instance = std::get_if<model::InstanceChanged>(&change))
      observe(instance->record);
}

void MetricsFeed::observe(const model::InstanceRecord& record) {
  Seen& seen = seen_[record.id];
  const auto reached = [&](bool& once, Wall at, Milestone milestone) {
    if (at.us == 0 || std::exchange(once, true)) return;
    metrics_.host_reached(record.set, milestone, at - record.created);
  };
  reached(seen.verified, record.verified, Milestone::kVerified);
  reached(seen.first_job, record.first_job, Milestone::kFirstJob);
  if (record.ready.us != 0 && !seen.ready) {
    reached(seen.ready, record.ready, Milestone::kReady);
    seen.ended = true;
    metrics_.boot_ended(record.set, record.type, BootOutcome::kReady);
  }
  const bool over = record.state == InstanceState::kTerminating ||
                    record.state == InstanceState::kAbandoned ||
                    record.state == InstanceState::kGone;
  if (over && !std::exchange(seen.ended, true)) {
    const BootOutcome outcome =
        record.reason_code == "boot_timeout" ? BootOutcome::kTimeout
        : record.reason_code == "cloud_failed" || record.reason_code == "vanished"
            ? BootOutcome::kFailed
        : record.state == InstanceState::kGone ? BootOutcome::kRefused
                                               : BootOutcome::kUnwanted;
    metrics_.boot_ended(record.set, record.type, outcome);
  }
  if (record.state == InstanceState::kGone) seen_.erase(record.id);
}

void MetricsFeed::show(const dispatch::Dispatcher& state, Now now) {
  const auto totals = state.totals(now.mono);
  constexpr std::array kStates{model::JobState::kQueued, model::JobState::kStarting,
                               model::JobState::kRunning, model::JobState::kCollecting};
  for (std::size_t i = 0; i < kStates.size(); ++i)
    metrics_.set_jobs(kStates[i], static_cast<std::size_t>(totals.jobs[i]));
  metrics_.set_queue_age(totals.oldest_wait);

  std::map<std::tuple<std::string, std::string, InstanceState>, std::size_t> counts;
  std::map<std::string, model::Micros> prices;
  for (const auto& view : state.instances()) {
    ++counts[{view.record.set, view.record.type, view.record.state}];
    prices[view.record.set] += view.record.price_per_hour;
  }
  std::vector<metrics::InstanceCount> instances;
  for (const auto& [key, count] : counts)
    instances.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
  metrics_.set_instances(instances);
  std::vector<metrics::PriceSum> sums;
  for (const auto& [set, sum] : prices) sums.push_back({set, sum});
  metrics_.set_prices(sums);

  std::map<std::pair<std::string, model::CloudErrorClass>, std::size_t> shut;
  for (const auto& gate : state.gates()) ++shut[{gate.set, gate.cls}];
  std::vector<metrics::GateCount> gates;
  for (const auto& [key, count] : shut) gates.push_back({key.first, key.second, count});
  metrics_.set_gates(gates);
}

}  // namespace hostler::daemon
