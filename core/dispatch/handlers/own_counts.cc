#include "core/dispatch/handlers/own_counts.h"

#include <algorithm>
#include <string>

#include "core/dispatch/state/pool_counts.h"

namespace hostler::dispatch {
namespace {

Result<std::int64_t> number_of(const PoolCounts& of, model::Counted what) {
  const bool is_of_verified = what == model::Counted::kIdle || what == model::Counted::kBusy;
  if (is_of_verified && of.adopted > 0) return fail(Errc::kUnavailable, of.unverified_text());
  switch (what) {
    case model::Counted::kQueued:
      return of.queued;
    case model::Counted::kCreated:
      return of.created;
    case model::Counted::kStarted:
      return of.started;
    case model::Counted::kIdle:
      return of.idle;
    case model::Counted::kBusy:
      return of.busy;
  }
  return 0;
}

PoolCounts sum_of(const std::vector<PoolCounts>& all) {
  PoolCounts out;
  for (const auto& one : all) {
    out.started += one.started;
    out.created += one.created;
    out.idle += one.idle;
    out.busy += one.busy;
    out.adopted += one.adopted;
  }
  return out;
}

}  // namespace

void OwnCounts::policy_changed(Now now) {
  owners_.decisions.forget_counts();
  for (const auto& metric : owners_.policy.metrics)
    if (metric.own) owners_.decisions.count_again_at(metric.name, now.mono);
  (void)count_due(now);
}

std::vector<std::uint32_t> OwnCounts::count_due(Now now) {
  std::vector<std::string> due;
  for (const auto& [metric, at] : owners_.decisions.counts())
    if (at <= now.mono) due.push_back(metric);
  std::vector<std::uint32_t> out;
  for (const auto& name : due) {
    const auto& policy = *owners_.metrics.policy(name);
    owners_.decisions.count_again_at(name, now.mono + policy.interval);
    model::MetricReading reading;
    reading.metric = name;
    if (const auto number = count(*policy.own))
      reading.samples.push_back(
          {.key = {}, .value = static_cast<double>(*number), .taken = now.wall});
    else
      reading.failure = number.error().message;
    owners_.metrics.take(reading, now);
    const auto& those = owners_.expressions.pools_of(name);
    out.insert(out.end(), those.begin(), those.end());
  }
  return out;
}

Result<std::int64_t> OwnCounts::count(const model::OwnCount& own) {
  const auto& pools = owners_.policy.pools;
  const auto& queue = owners_.waiting.queue();
  const auto found = std::ranges::find(pools, own.pool, &model::PoolPolicy::name);
  if (own.what == model::Counted::kQueued) {
    if (found == pools.end()) return static_cast<std::int64_t>(queue.size());
    return QueueCounts(queue, owners_.menu.offerings(), owners_.policy)
        .of(static_cast<std::uint32_t>(found - pools.begin()));
  }
  if (owners_.hosts.refresh_views(owners_.viewer)) owners_.plan.want();
  const auto counts = count_hosts(pools.size(), owners_.hosts.views());
  return number_of(found == pools.end() ? sum_of(counts)
                                        : counts[static_cast<std::size_t>(found - pools.begin())],
                   own.what);
}

}  // namespace hostler::dispatch
