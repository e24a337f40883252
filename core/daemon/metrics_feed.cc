#include "core/daemon/metrics_feed.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/gates/gates.h"

namespace hostler::daemon {

using metrics::BootOutcome;
using metrics::Milestone;
using model::InstanceState;
using model::Reason;

namespace {

bool is_over(InstanceState state) {
  return state == InstanceState::kTerminating || state == InstanceState::kAbandoned ||
         state == InstanceState::kVanished || state == InstanceState::kGone;
}

/// How the boot of an instance that was never ready ended.
BootOutcome failed_boot(const model::InstanceRecord& record) {
  switch (record.reason_code) {
    case Reason::kBootTimeout:
      return BootOutcome::kTimeout;
    case Reason::kCloudFailed:
    case Reason::kInitFailed:
    case Reason::kVanished:
      return BootOutcome::kFailed;
    default:
      return record.state == InstanceState::kGone ? BootOutcome::kRefused : BootOutcome::kUnwanted;
  }
}

/// Hosts without cards add nothing.
void add_cards(const model::InstanceView& view, std::vector<metrics::CardCount>& out) {
  const auto& counts = view.card_counts;
  if (counts.sum() == 0 || view.record.state == InstanceState::kStopped ||
      is_over(view.record.state))
    return;
  const auto add = [&](model::CardState state, std::int32_t count) {
    out.push_back({view.record.pool, state, static_cast<std::size_t>(count)});
  };
  add(model::CardState::kFree, counts.free);
  add(model::CardState::kUsed, counts.used);
  add(model::CardState::kBad, counts.bad);
  add(model::CardState::kUnknown, counts.unknown);
}

}  // namespace

void MetricsFeed::restore(const model::Restored& restored) {
  for (const auto& item : restored.work)
    if (item.record.id.kind == model::WorkKind::kLease) {
      if (item.record.started.us == 0) lease_submits_[item.record.id] = item.submitted;
    } else if (item.record.attempt == 0) {
      add_submitted(item.record.id, item.submitted);
    }
  for (const auto& [record, create, used_up] : restored.instances)
    counted_[record.id] = {record.verified.us != 0, record.ready.us != 0, record.first_job.us != 0,
                           record.ready.us != 0 || is_over(record.state)};
}

void MetricsFeed::count(const std::vector<model::Change>& changes, Now now) {
  for (const auto& change : changes) {
    if (const auto* instance = model::get_change<model::InstanceChanged>(change)) {
      count_instance(instance->record);
    } else if (const auto* item = std::get_if<model::WorkItem>(&change)) {
      count_submit(*item);
    } else if (const auto* changed = std::get_if<model::WorkChanged>(&change)) {
      if (changed->record.id.kind == model::WorkKind::kLease)
        count_lease(changed->record, now);
      else if (model::is_terminal(changed->record.state))
        count_end(changed->record);
    } else if (const auto* attempt = std::get_if<model::AttemptChanged>(&change)) {
      if (attempt->state != model::AttemptState::kIntended) continue;
      metrics_.attempt_started();
      if (attempt->attempt.number != 1) continue;
      if (const auto at = remove_submitted(attempt->attempt.work))
        metrics_.work_waited(model::WorkKind::kJob, now.wall - *at);
    }
  }
}

void MetricsFeed::count_submit(const model::WorkItem& item) {
  const model::WorkId id = item.record.id;
  metrics_.work_submitted(id.kind);
  if (id.kind == model::WorkKind::kLease)
    lease_submits_[id] = item.submitted;
  else
    add_submitted(id, item.submitted);
}

void MetricsFeed::count_lease(const model::WorkRecord& record, Now now) {
  const bool has_ended = model::is_terminal(record.state);
  if (has_ended) metrics_.lease_ended(record.reason);
  const auto waiting = lease_submits_.find(record.id);
  if (waiting == lease_submits_.end()) return;
  if (record.state == model::WorkState::kRunning)
    metrics_.work_waited(record.id.kind, now.wall - waiting->second);
  else if (!has_ended)
    return;
  lease_submits_.erase(waiting);
}

void MetricsFeed::add_submitted(model::WorkId job, Wall at) {
  if (!submitted_.empty() && submitted_.rbegin()->second.at == at)
    ++submitted_.rbegin()->second.unstarted;
  else
    submitted_[job] = {at, 1};
}

std::optional<Wall> MetricsFeed::remove_submitted(model::WorkId job) {
  auto found = submitted_.upper_bound(job);
  if (found == submitted_.begin()) return std::nullopt;
  --found;
  const Wall at = found->second.at;
  if (--found->second.unstarted == 0) submitted_.erase(found);
  return at;
}

void MetricsFeed::count_end(const model::WorkRecord& record) {
  if (record.attempt == 0) remove_submitted(record.id);
  std::optional<Duration> ran;
  if (record.started.us != 0 && record.reason != model::EndReason::kHostLost)
    ran = std::max(record.ended - record.started, Duration::zero());
  metrics_.job_ended(record.state, record.reason, ran);
}

void MetricsFeed::count_instance(const model::InstanceRecord& record) {
  Counted& counted = counted_[record.id];
  const auto reached = [&](bool& once, Wall at, Milestone milestone) {
    if (at.us == 0 || std::exchange(once, true)) return;
    metrics_.host_reached(record.set, milestone, at - record.created);
  };
  reached(counted.verified, record.verified, Milestone::kVerified);
  reached(counted.first_job, record.first_job, Milestone::kFirstJob);
  if (record.ready.us != 0 && !counted.ready) {
    reached(counted.ready, record.ready, Milestone::kReady);
    counted.boot_ended = true;
    metrics_.boot_ended(record.set, record.type, BootOutcome::kReady);
  }
  if (is_over(record.state) && !std::exchange(counted.boot_ended, true)) {
    metrics_.boot_ended(record.set, record.type, failed_boot(record));
  }
  if (record.state == InstanceState::kGone) counted_.erase(record.id);
}

void MetricsFeed::count_gangs(const model::GangCounts& all) {
  metrics_.gangs("granted", all.granted - gangs_.granted);
  metrics_.gangs("let_go", all.let_go - gangs_.let_go);
  metrics_.gangs("refused", all.refused - gangs_.refused);
  gangs_ = all;
}

void MetricsFeed::set_gauges(const dispatch::Queries& state, Now now) {
  set_work(state.totals(now.mono));
  set_instances(state, now);
  set_clouds(state, now.mono);
}

void MetricsFeed::set_work(const model::Totals& totals) {
  for (std::size_t i = 0; i < model::kLiveStates.size(); ++i) {
    const auto state = model::kLiveStates[i];
    metrics_.set_work(model::WorkKind::kJob, state, static_cast<std::size_t>(totals.jobs[i]));
    metrics_.set_work(model::WorkKind::kLease, state, static_cast<std::size_t>(totals.leases[i]));
  }
  metrics_.set_queue_age(totals.oldest_wait);
  metrics_.set_waiting(totals.waiting);
  count_gangs(totals.gangs);
}

void MetricsFeed::set_instances(const dispatch::Queries& state, Now now) {
  std::vector<metrics::InstanceCount> instances;
  std::vector<metrics::HostCount> hosts;
  std::vector<metrics::PriceSum> prices;
  std::vector<metrics::CardCount> cards;
  std::map<std::string, std::size_t> by_pool;
  for (const auto& set : state.policy().sets) {
    prices.push_back({set.name, {}});
    for (const auto health :
         {model::Health::kHealthy, model::Health::kUnreachable, model::Health::kBroken})
      hosts.push_back({set.name, health, 0});
  }
  for (const auto& pool : state.policy().pools)
    for (const auto card : {model::CardState::kFree, model::CardState::kUsed,
                            model::CardState::kBad, model::CardState::kUnknown})
      cards.push_back({pool.name, card, 0});
  for (const auto& view : state.instances()) {
    const auto& record = view.record;
    instances.push_back({record.set, record.type, record.state, 1});
    prices.push_back({record.set, record.price_per_hour});
    add_cards(view, cards);
    if (record.state == InstanceState::kIdle || record.state == InstanceState::kBusy)
      hosts.push_back({record.set, record.health, 1});
    if (record.state != InstanceState::kStopped) ++by_pool[record.pool];
  }
  metrics_.set_instances(instances);
  metrics_.set_hosts(hosts, cards);
  metrics_.set_prices(prices);
  metrics_.set_price_max(state.policy().ceilings.price_per_hour_max);
  set_pools(state, by_pool, now);
}

void MetricsFeed::set_pools(const dispatch::Queries& state,
                            std::map<std::string, std::size_t>& instances, Now now) {
  std::vector<metrics::PoolStatus> out;
  for (const auto& pool : state.pools()) {
    auto& status = out.emplace_back();
    status.pool = pool.name;
    status.instances = instances[pool.name];
    status.instances_max = static_cast<std::size_t>(pool.max);
    const auto add = [&](const char* name, std::int64_t number) {
      metrics::PoolStatus::Bound bound{.name = name, .number = number};
      for (const auto& text : pool.bounds)
        if (text.bound == name) bound.is_known = text.number.has_value();
      status.bounds.push_back(std::move(bound));
    };
    add("min", pool.min);
    add("max", pool.max);
    if (pool.created_min) add("created_min", *pool.created_min);
    if (pool.created_max) add("created_max", *pool.created_max);
  }
  for (const auto& pushed : state.pushes(now))
    for (auto& status : out)
      if (status.pool == pushed.pool)
        status.pushed = {.age = pushed.age, .tasks = pushed.tasks, .going = pushed.going};
  metrics_.set_pools(out, state.metrics(now));
}

void MetricsFeed::set_clouds(const dispatch::Queries& state, Mono now) {
  std::vector<metrics::SetStatus> sets;
  std::vector<metrics::LeftoverCount> leftovers;
  std::vector<metrics::GateCount> gates;
  const auto classes = gates::gated_classes();
  for (const auto& set : state.sets()) {
    sets.push_back({set.name, set.open, set.foreign_owner});
    const auto left = set.leftovers.value_or(model::LeftoversView());
    leftovers.push_back({set.name, left.found, left.confirmed, left.destroying});
    for (const auto cls : classes) gates.push_back({set.name, cls, 0});
  }
  metrics_.set_sets(sets);
  metrics_.set_leftovers(leftovers);
  for (const auto& gate : state.gates(now)) gates.push_back({gate.set, gate.cls, 1});
  metrics_.set_gates(gates);
}

}  // namespace hostler::daemon
