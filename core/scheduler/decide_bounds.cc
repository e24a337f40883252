#include "core/scheduler/decide_bounds.h"

#include <algorithm>
#include <cmath>

#include "core/base/assert.h"
#include "core/model/ceilings.h"

namespace hostler::scheduler {
namespace {

/// One bound on its way from a computed number to a bound.
struct BoundStep {
  const Computed* computed = nullptr;
  std::int64_t rounded = 0;  ///< Before the ceiling.
  BoundNote note;

  [[nodiscard]] bool is_known() const { return note.unknown.empty(); }
};

BoundStep rounded_step(const Computed& computed) {
  BoundStep out{.computed = &computed, .rounded = 0, .note = {}};
  out.note.of = computed.of;
  out.note.computed = computed.value;
  if (!computed.value) {
    out.note.unknown = computed.reason.empty() ? "it was not evaluated" : computed.reason;
    return out;
  }
  if (const auto number = to_host_count(*computed.value))
    out.rounded = *number;
  else
    out.note.unknown = number.error().message;
  return out;
}

/// A minimum above its maximum: nobody knows which of both is wrong.
void refuse_crossed(std::vector<BoundStep>& steps, BoundOf min_of, BoundOf max_of) {
  const auto find = [&](BoundOf of) {
    return std::ranges::find_if(
        steps, [&](const BoundStep& step) { return step.note.of == of && step.is_known(); });
  };
  const auto min = find(min_of), max = find(max_of);
  if (min == steps.end() || max == steps.end() || min->rounded <= max->rounded) return;
  min->note.unknown = max->note.unknown = "the minimum of " + std::to_string(min->rounded) +
                                          " is above the maximum of " +
                                          std::to_string(max->rounded);
}

/// The number within the ceiling.
void saturate(BoundStep& step, const HostCeiling& ceiling) {
  step.note.wanted = std::min(step.rounded, ceiling.hosts);
  step.note.is_at_ceiling = step.rounded > ceiling.hosts;
  if (!step.note.is_at_ceiling) return;
  step.note.changes.push_back("ceiling: " + std::to_string(step.rounded) + " is above " +
                              std::to_string(ceiling.hosts) +
                              (ceiling.whose.empty() ? "" : ", " + ceiling.whose));
}

Bound bound_of(const BoundStep& step) {
  const BoundNote& note = step.note;
  Bound out{.of = note.of,
            .source = kExpressionSource,
            .number = note.number,
            .reason = step.is_known() ? step.computed->reason : note.unknown,
            .until = {}};
  // No time: equal decisions are to be equal bounds.
  if (note.number != note.wanted)
    out.reason += (out.reason.empty() ? "computed " : ", computed ") + std::to_string(*note.wanted);
  return out;
}

void follow_rules(BoundStep& step, BoundScaling& memory, const model::ScalingPolicy& policy,
                  const HostCounts& present, const HostCeiling& ceiling, Mono now) {
  const BoundOf of = step.note.of;
  const bool is_started = of == BoundOf::kStartedMin || of == BoundOf::kStartedMax;
  const bool is_max = of == BoundOf::kStartedMax || of == BoundOf::kCreatedMax;
  const std::int64_t there = is_started ? present.started : present.created;
  // While it was unknown, known minimums may have created beyond what it was.
  if (is_max) memory.end_hold(there, policy, now);
  auto decision = memory.decide(*step.note.wanted, there, policy, now);
  step.note.number = std::min(decision.number, ceiling.hosts);
  std::ranges::move(decision.changes, std::back_inserter(step.note.changes));
}

void sooner(std::optional<Mono>& due, const std::optional<Mono>& other) {
  if (other && (!due || *other < *due)) due = other;
}

}  // namespace

std::optional<HostCeiling> host_ceiling(const model::SitePolicy& policy, std::uint32_t pool) {
  const model::PoolPolicy& its = policy.pools[pool];
  const model::HostCeilings all = model::host_ceilings(policy, its);
  const std::int64_t lowest = all.lowest();
  if (lowest == 0) return std::nullopt;
  const std::string whose = lowest == all.pool   ? "pool " + its.name
                            : lowest == all.sets ? "the sets of pool " + its.name
                                                 : "the site";
  return HostCeiling{.hosts = lowest, .whose = "ceilings.instances_max of " + whose};
}

DecidedBounds decide_bounds(const std::vector<Computed>& computed, PoolScaling& scaling,
                            const model::ScalingPolicy& policy, const HostCounts& present,
                            const std::optional<HostCeiling>& ceiling, Mono now) {
  const HostCeiling most = ceiling.value_or(HostCeiling{.hosts = kBoundMax, .whose = {}});
  std::vector<BoundStep> steps;
  for (const Computed& one : computed) steps.push_back(rounded_step(one));
  refuse_crossed(steps, BoundOf::kStartedMin, BoundOf::kStartedMax);
  refuse_crossed(steps, BoundOf::kCreatedMin, BoundOf::kCreatedMax);
  DecidedBounds out;
  for (BoundStep& step : steps) {
    const auto of = static_cast<std::size_t>(step.note.of);
    HOSTLER_ASSERT(of < scaling.size(), "expressions say bounds of started and created hosts");
    if (step.is_known()) {
      saturate(step, most);
      out.is_at_ceiling |= step.note.is_at_ceiling;
      follow_rules(step, scaling[of], policy, present, most, now);
      sooner(out.due, scaling[of].due(policy));
    } else {
      scaling[of].hold(policy, now);
    }
    out.bounds.push_back(bound_of(step));
    out.notes.push_back(std::move(step.note));
  }
  return out;
}

Result<std::int64_t> to_host_count(double value) {
  if (std::isnan(value)) return fail(Errc::kInvalidArgument, "the expression gave NaN");
  if (std::isinf(value)) return fail(Errc::kInvalidArgument, "the expression gave infinity");
  const double rounded = std::round(value);  // Half away from zero.
  if (rounded <= 0) return 0;
  if (rounded >= static_cast<double>(kBoundMax)) return kBoundMax;
  return static_cast<std::int64_t>(rounded);
}

}  // namespace hostler::scheduler
