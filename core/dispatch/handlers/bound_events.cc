#include "core/dispatch/handlers/bound_events.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace hostler::dispatch {

using scheduler::BoundNote;

namespace {

/// Ages grow, metrics become late, and windows end without a reading.
constexpr Duration kRegular = std::chrono::seconds(10);

bool is_equal(const std::vector<scheduler::Bound>& a, const std::vector<scheduler::Bound>& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.of == other.of && one.number == other.number;
  });
}

std::int64_t number_of(const PoolCounts& of, model::Counted what) {
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

/// "max: ceiling: 900 is above 100 (ceilings.instances_max of the site)"
std::string ceiling_text(const scheduler::DecidedBounds& decided) {
  for (const auto& note : decided.notes)
    for (const auto& change : note.changes)
      if (change.starts_with("ceiling")) return std::string(bound_name(note.of)) + ": " + change;
  return {};
}

std::string text_of(const BoundNote& note) {
  std::string out = std::to_string(*note.number);
  for (const auto& change : note.changes) out += "; " + change;
  return out;
}

}  // namespace

void BoundEvents::policy_changed(Now now) {
  const auto& [policy, viewer, menu, hosts, waiting, metrics, zones, expressions, bounds, decisions,
               plan, recorder] = owners_;
  expressions.compile(policy);
  metrics.configure(policy.metrics, expressions.windows(), now);
  decisions.resize(policy.pools.size());
  decisions.forget_counts();
  for (const auto& metric : policy.metrics)
    if (metric.own) decisions.count_again_at(metric.name, now.mono);
  (void)count_own(now);
  for (std::uint32_t pool = 0; pool < policy.pools.size(); ++pool) {
    if (!expressions.of(pool).bounds.empty()) continue;
    decisions.at(pool) = {};
    bounds.say(pool, scheduler::kExpressionSource, {});
  }
  evaluate_all(now);
}

void BoundEvents::on(const MetricsRead& event, Now now) {
  std::vector<std::uint32_t> pools;
  for (const auto& reading : event.readings) {
    owners_.metrics.take(reading, now);
    const auto& those = owners_.expressions.pools_of(reading.metric);
    pools.insert(pools.end(), those.begin(), those.end());
  }
  evaluate(std::move(pools), now);
}

void BoundEvents::on(const ZonesRead& event, Now now) {
  owners_.zones.take(event.zones);
  evaluate_all(now);
}

void BoundEvents::on(const PastRead& event, Now now) {
  for (const auto& past : event.past) owners_.metrics.take(past, now);
}

bool BoundEvents::fire_due(Now now) {
  auto pools = count_own(now);
  if (owners_.decisions.look_at() <= now.mono) {
    evaluate_all(now);
    return true;
  }
  evaluate(std::move(pools), now);
  return false;
}

std::vector<std::uint32_t> BoundEvents::count_own(Now now) {
  std::vector<std::string> due;
  for (const auto& [metric, at] : owners_.decisions.counts())
    if (at <= now.mono) due.push_back(metric);
  std::vector<std::uint32_t> out;
  for (const auto& name : due) {
    const auto& policy = *owners_.metrics.policy(name);
    owners_.decisions.count_again_at(name, now.mono + policy.interval);
    model::MetricReading reading;
    reading.metric = name;
    reading.samples.push_back({.key = {}, .value = count(*policy.own), .taken = now.wall});
    owners_.metrics.take(reading, now);
    const auto& those = owners_.expressions.pools_of(name);
    out.insert(out.end(), those.begin(), those.end());
  }
  return out;
}

double BoundEvents::count(const model::OwnCount& own) {
  const auto& pools = owners_.policy.pools;
  const auto& queue = owners_.waiting.queue();
  const auto found = std::ranges::find(pools, own.pool, &model::PoolPolicy::name);
  if (own.what == model::Counted::kQueued) {
    if (found == pools.end()) return static_cast<double>(queue.size());
    return static_cast<double>(count_queued(static_cast<std::uint32_t>(found - pools.begin()),
                                            queue, owners_.menu.offerings(), owners_.policy));
  }
  if (owners_.hosts.refresh_views(owners_.viewer)) owners_.plan.want();
  const auto counts = count_hosts(pools.size(), owners_.hosts.views());
  const PoolCounts of = found == pools.end()
                            ? sum_of(counts)
                            : counts[static_cast<std::size_t>(found - pools.begin())];
  return static_cast<double>(number_of(of, own.what));
}

void BoundEvents::evaluate_all(Now now) {
  const bool is_any = !owners_.expressions.pools().empty() || owners_.expressions.has_quiet();
  owners_.decisions.look_again_at(is_any ? now.mono + kRegular : fleet::kNever);
  evaluate(owners_.expressions.pools(), now);
}

void BoundEvents::evaluate(std::vector<std::uint32_t> pools, Now now) {
  if (pools.empty()) return;
  std::ranges::sort(pools);
  pools.erase(std::ranges::unique(pools).begin(), pools.end());
  if (owners_.hosts.refresh_views(owners_.viewer)) owners_.plan.want();
  auto counts = count_hosts(owners_.policy.pools.size(), owners_.hosts.views());
  for (const std::uint32_t pool : pools) {
    if (owners_.expressions.of(pool).counts_queue)
      counts[pool].queued =
          count_queued(pool, owners_.waiting.queue(), owners_.menu.offerings(), owners_.policy);
    evaluate(pool, counts[pool], now);
  }
}

void BoundEvents::evaluate(std::uint32_t pool, const PoolCounts& counts, Now now) {
  const auto& policy = owners_.policy.pools[pool];
  auto& decision = owners_.decisions.at(pool);
  const ExpressionInputs::Subject subject{.keys = {policy.name}, .counts = counts};
  std::vector<scheduler::Computed> computed;
  std::vector<bool> are_early;
  for (const auto& bound : owners_.expressions.of(pool).bounds) {
    auto [value, text, is_early] = inputs_.evaluate(bound.compiled, subject, now);
    computed.push_back({.of = bound.of, .value = value, .reason = std::move(text)});
    are_early.push_back(is_early);
  }
  auto decided = scheduler::decide_bounds(computed, decision.scaling, policy.scaling,
                                          {.started = counts.started, .created = counts.created},
                                          scheduler::host_ceiling(owners_.policy, pool), now.mono);
  if (!is_equal(decided.bounds, decision.last.bounds)) owners_.plan.want();
  if (decided.due)
    owners_.decisions.look_again_at(std::min(owners_.decisions.look_at(), *decided.due));
  owners_.bounds.say(pool, scheduler::kExpressionSource, decided.bounds);
  decision.last = std::move(decided);
  for (std::size_t i = 0; i < computed.size(); ++i)
    if (!are_early[i]) tell(pool, decision.last.notes[i], now);
  tell_ceiling(pool, now);
}

/// What waits for its first reading is no news: each start begins so.
void BoundEvents::tell(std::uint32_t pool, const BoundNote& note, Now now) {
  auto& told = owners_.decisions.at(pool).told[static_cast<std::size_t>(note.of)];
  if (told && *told == note.number) return;
  const bool was_unknown = told && !*told;
  const model::Event event = !note.number  ? model::Event::kBoundUnknown
                             : was_unknown ? model::Event::kBoundKnown
                                           : model::Event::kBoundChanged;
  owners_.recorder.record("metrics", "pool " + owners_.policy.pools[pool].name, event,
                          bound_name(note.of), note.number ? text_of(note) : note.unknown, now);
  told = note.number;
}

void BoundEvents::tell_ceiling(std::uint32_t pool, Now now) {
  auto& decision = owners_.decisions.at(pool);
  const bool is_new = decision.last.is_at_ceiling && !decision.is_ceiling_told;
  decision.is_ceiling_told = decision.last.is_at_ceiling;
  if (!is_new) return;
  owners_.recorder.record("metrics", "pool " + owners_.policy.pools[pool].name,
                          model::Event::kBoundAtCeiling, "", ceiling_text(decision.last), now);
}

}  // namespace hostler::dispatch
