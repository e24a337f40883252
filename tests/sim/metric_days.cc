#include "tests/sim/metric_days.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hostler::sim {
namespace {

using model::Reason;
using scheduler::BoundOf;

constexpr double kValidMax = 1000, kStepMax = 150;

const scheduler::Bound* find(const scheduler::Snapshot& snapshot, BoundOf of) {
  if (snapshot.bounds.empty()) return nullptr;
  for (const auto& bound : snapshot.bounds.front())
    if (bound.of == of && bound.source == scheduler::kExpressionSource) return &bound;
  return nullptr;
}

std::string text_of(const scheduler::Bound& bound) {
  return bound.number ? std::to_string(*bound.number) : "unknown (" + bound.reason + ")";
}

bool goes_for_bounds(Reason code) { return code == Reason::kIdle || code == Reason::kBeyondMax; }

}  // namespace

void MetricDays::set_policy(model::SitePolicy& policy, std::int32_t fleet) {
  fleet_ = ceiling_ = fleet;
  if (policy.ceilings.instances_max > 0)
    ceiling_ = std::min<std::int64_t>(fleet, policy.ceilings.instances_max);
  demand_.name = "demand";
  demand_.interval = interval();
  demand_.valid_min = 0;
  demand_.valid_max = kValidMax;
  demand_.max_step = kStepMax;
  if (random_.chance(0.2)) demand_.on_failure = model::OnFailure::kLast;
  demand_.last_for = 20s;
  model::MetricPolicy load;
  load.name = "load";
  load.interval = interval();
  load.by = "instance";
  policy.metrics = {demand_, load};
  auto& pool = policy.pools.front();
  is_direct_ = random_.chance(0.5);
  pool.sizes.texts.min = "demand / 10";
  pool.sizes.texts.max = "demand * 0 + " + std::to_string(fleet);
  pool.ceilings.instances_max = fleet;
  auto& scaling = pool.scaling;
  scaling.down.window = is_direct_ ? 0s : 20s;
  if (!is_direct_ && random_.chance(0.5))
    scaling.up.policies = {{.value = 1, .is_percent = false, .per = 20s}};
  if (random_.chance(0.3)) scaling.lifetime_min = 1min;
  if (random_.chance(0.5)) scaling.rank = "load";
  if (random_.chance(0.3)) return;
  scaling.drain =
      model::DrainPolicy{.command = {"/opt/deregister"}, .quiet = "load == 0", .timeout = 40s};
  if (random_.chance(0.3)) scaling.drain->quiet.clear();
}

double MetricDays::next_demand(bool faults) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (!faults) return 0;
  level_ = std::clamp(level_ + random_.unit() * 30 - 15, 0.0, 70.0);
  const std::uint64_t fate = random_.below(40);
  if (fate == 0) level_ = 0;  // A counter was reset, or all is done.
  if (fate == 1) return 1e30;
  if (fate == 2) return level_ + 2 * kStepMax;  // A spike.
  if (fate == 3) return kNan;
  if (fate == 4) return -kInf;
  if (fate == 5) return -5;
  if (fate < 10) return fate % 2 == 0 ? 0 : 70;  // It flips.
  return level_;
}

std::optional<dispatch::MetricsRead> MetricDays::read(bool faults, Now now) {
  if (faults && silent_ == 0 && random_.chance(0.05))
    silent_ = 1 + static_cast<int>(random_.below(12));
  if (!faults) silent_ = 0;
  if (silent_ > 0) {
    --silent_;
    return std::nullopt;
  }
  dispatch::MetricsRead out;
  auto& demand = out.readings.emplace_back();
  demand.metric = "demand";
  taken_ = now.wall;
  const double value = next_demand(faults);
  if (faults && random_.chance(0.08)) {
    demand.failure = "HTTP 500";
    judge(std::nullopt, now.mono);
  } else {
    demand.samples.push_back({.key = {}, .value = value, .taken = now.wall});
    judge(value, now.mono);
  }
  auto& load = out.readings.emplace_back();
  load.metric = "load";
  for (const auto& [id, row] : disk_.instances())
    if (random_.chance(0.7))
      load.samples.push_back({.key = random_.chance(0.5) || row.record.provider_id.empty()
                                         ? id.text()
                                         : row.record.provider_id,
                              .value = static_cast<double>(random_.below(3)),
                              .taken = now.wall});
  return out;
}

void MetricDays::judge(std::optional<double> value, Mono now) {
  read_at_ = now;
  is_good_ = false;
  if (!value) return;
  is_seen_ = true;
  is_good_ = std::isfinite(*value) && *value >= 0 && *value <= kValidMax &&
             (!before_ || std::abs(*value - *before_) <= kStepMax);
  if (std::isfinite(*value)) before_ = *value;
  if (!is_good_) return;
  value_ = *value;
  last_good_ = now;
  if (!first_good_) first_good_ = now;
}

void MetricDays::daemon_started() {
  is_seen_ = is_good_ = false;
  before_.reset();
  first_good_.reset();
  last_good_.reset();
  read_at_ = Mono::min();
  closed_.clear();
  for (const auto& [id, row] : disk_.instances())
    if (row.record.drain_began.us != 0) closed_.insert(id);
}

void MetricDays::planned(const scheduler::Snapshot& snapshot, const scheduler::Plan& plan,
                         const model::SitePolicy& policy, Now now) {
  if (!policy.pools.front().sizes.texts.any()) return;
  check_bounds(snapshot, now);
  check_held(snapshot, plan);
}

void MetricDays::check_bounds(const scheduler::Snapshot& snapshot, Now now) {
  const auto* min = find(snapshot, BoundOf::kStartedMin);
  if (min == nullptr) return complain_("a plan is made without the bound that is an expression");
  if (read_at_ != Mono::min() && now.wall < taken_ + -1min) return;  // The clock went back.
  const Duration silent = read_at_ == Mono::min() ? Duration::max() : now.mono - read_at_;
  const bool is_late = silent > 3 * interval();
  const auto wanted = static_cast<std::int64_t>(std::round(value_ / 10));
  if (is_good_ && !is_late && wanted <= fleet_) {
    if (!min->number) return complain_("the metric is known, and its bound is " + text_of(*min));
    // At first the hosts that are there count as wanted.
    const bool is_first = now.mono < *first_good_ + 11s;
    const std::int64_t number = std::min(wanted, ceiling_);
    if (is_direct_ && *min->number != number && !(is_first && *min->number > number))
      complain_("a plan has a minimum of " + text_of(*min) + ", and the metric gives " +
                std::to_string(number));
    return;
  }
  // Bounds are evaluated each 10 s: so much later it is known that a metric is late.
  const bool is_unknown = !is_seen_ || (!is_late && !is_good_) || silent > 3 * interval() + 11s;
  const bool has_last = demand_.on_failure == model::OnFailure::kLast && last_good_ &&
                        now.mono <= *last_good_ + demand_.last_for + 11s;
  if (is_unknown && !has_last && min->number)
    complain_("the metric is unknown, and a plan has a minimum of " + text_of(*min));
}

void MetricDays::check_held(const scheduler::Snapshot& snapshot, const scheduler::Plan& plan) {
  const auto* min = find(snapshot, BoundOf::kStartedMin);
  if (min == nullptr || min->number) return;
  for (const auto& end : plan.shutdowns)
    if (goes_for_bounds(end.code))
      complain_(end.host.text() + " is to end as " + to_string(end.code) +
                ", and the minimum is unknown");
  for (const auto& off : plan.switch_offs)
    if (goes_for_bounds(off.code))
      complain_(off.host.text() + " is to be switched off, and the minimum is unknown");
  for (const auto& drain : plan.drains)
    complain_(drain.host.text() + " is to drain, and the minimum is unknown");
}

void MetricDays::spoil(scheduler::Plan& plan, const scheduler::Snapshot& snapshot, bool faults) {
  if (!faults || !random_.chance(0.1)) return;
  for (const auto& host : snapshot.hosts)
    for (const auto& cls : snapshot.classes)
      if (host.drain != scheduler::DrainPhase::kNone && cls.shape.gang.count == 0)
        plan.places.push_back({host.id, cls.id, 1});
}

void MetricDays::drain(const dispatch::DrainCall& call, bool faults, const Reply& reply) {
  const auto row = disk_.instances().find(call.instance);
  if (row == disk_.instances().end() || row->second.record.drain_began.us == 0)
    return complain_("a command drains " + call.instance.text() + ", and no row says so");
  if (!drained_.insert(call.instance).second)
    return complain_("a second command drains " + call.instance.text());
  if (faults && random_.chance(0.2)) return;  // It hangs.
  const Duration delay = Duration(1s) * static_cast<std::int64_t>(random_.below(10));
  const bool good = !faults || random_.chance(0.7);
  reply(delay, dispatch::DrainEnded{call.instance, call.began, good, good ? "" : "exit status 1"});
  if (random_.chance(0.1))
    reply(delay + 1s, dispatch::DrainEnded{call.instance, call.began, true, ""});
}

void MetricDays::check(const dispatch::Outbox& outbox) {
  for (const auto& change : outbox.changes) {
    if (const auto* host = model::get_change<model::InstanceChanged>(change))
      check_host(host->record);
    else if (const auto* work = std::get_if<model::WorkChanged>(&change))
      check_start(work->record);
  }
}

/// Leases too.
void MetricDays::check_start(const model::WorkRecord& row) {
  if (row.state == model::WorkState::kStarting && closed_.contains(row.instance))
    complain_(row.id.text() + " gets " + row.instance.text() + ", which drains");
}

void MetricDays::check_host(const model::InstanceRecord& row) {
  if (row.drain_began.us != 0)
    closed_.insert(row.id);
  else
    closed_.erase(row.id);
  if (row.state == model::InstanceState::kStopped) drained_.erase(row.id);
  const bool ends = row.state == model::InstanceState::kTerminating;
  if (ends && row.drain_began.us != 0 && !row.drain_over && goes_for_bounds(row.reason_code))
    complain_(row.id.text() + " is ended as " + to_string(row.reason_code) +
              ", and its drain is not over");
}

}  // namespace hostler::sim
