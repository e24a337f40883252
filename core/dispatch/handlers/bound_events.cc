#include "core/dispatch/handlers/bound_events.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace hostler::dispatch {

using scheduler::BoundNote;

namespace {

/// Ages grow, metrics become late, and windows end without a reading.
constexpr Duration kRegular = std::chrono::seconds(10);
/// A pool whose windows and periods end all the time is not evaluated all the time.
constexpr Duration kSoonest = std::chrono::seconds(1);
/// A bound that flips does not fill the ledger.
constexpr Duration kToldInterval = std::chrono::minutes(1);

bool is_equal(const std::vector<scheduler::Bound>& a, const std::vector<scheduler::Bound>& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.of == other.of && one.number == other.number;
  });
}

/// "max: ceiling: 900 is above 100 (ceilings.instances_max of the site)"
std::string ceiling_text(const scheduler::DecidedBounds& decided) {
  for (const auto& note : decided.notes)
    if (note.is_at_ceiling) return std::string(bound_name(note.of)) + ": " + note.changes.front();
  return {};
}

std::string text_of(const BoundNote& note) {
  std::string out = std::to_string(*note.number);
  for (const auto& change : note.changes) out += "; " + change;
  return out;
}

}  // namespace

void BoundEvents::policy_changed(Now now) {
  const auto& policy = owners_.policy;
  owners_.expressions.compile(policy);
  owners_.metrics.configure(policy.metrics, owners_.expressions.windows(), now);
  own_counts_.policy_changed(now);
  owners_.decisions.resize(policy.pools.size());
  for (std::uint32_t pool = 0; pool < policy.pools.size(); ++pool) {
    const auto& texts = owners_.expressions.of(pool).bounds;
    owners_.decisions.at(pool).keep(texts);
    if (texts.empty()) owners_.bounds.say(pool, scheduler::kExpressionSource, {});
  }
  evaluate_all(now);
}

void BoundEvents::sets_changed(Now now) { owners_.decisions.look_again_at(now.mono); }

void BoundEvents::on(const MetricsRead& event, Now now) {
  for (const auto& reading : event.readings) {
    owners_.metrics.take(reading, now);
    for (const auto pool : owners_.expressions.pools_of(reading.metric))
      owners_.decisions.want(pool);
  }
  owners_.decisions.note_reading();
}

void BoundEvents::on(const ZonesRead& event, Now now) {
  owners_.zones.take(event.zones);
  owners_.decisions.zones_were_read();
  evaluate_all(now);
}

void BoundEvents::on(const PastRead& event, Now now) {
  for (const auto& past : event.past) owners_.metrics.take(past, now);
}

bool BoundEvents::fire_due(Now now) {
  auto pools = own_counts_.count_due(now);
  const bool is_any_read = owners_.decisions.take_reading();
  const auto due = owners_.decisions.take_due(now.mono);
  if (owners_.decisions.look_at() <= now.mono) {
    evaluate_all(now);
    return true;
  }
  pools.insert(pools.end(), due.begin(), due.end());
  evaluate(std::move(pools), now);
  return is_any_read;
}

void BoundEvents::evaluate_all(Now now) {
  const bool is_any = !owners_.expressions.pools().empty() || owners_.expressions.has_quiet();
  owners_.decisions.look_again_at(is_any ? now.mono + kRegular : fleet::kNever);
  evaluate(owners_.expressions.pools(), now);
}

void BoundEvents::evaluate(std::vector<std::uint32_t> pools, Now now) {
  if (pools.empty()) return;
  std::ranges::sort(pools);
  pools.erase(std::unique(pools.begin(), pools.end()), pools.end());
  if (owners_.hosts.refresh_views(owners_.viewer)) owners_.plan.want();
  auto counts = count_hosts(owners_.policy.pools.size(), owners_.hosts.views());
  std::optional<QueueCounts> queued;
  for (const std::uint32_t pool : pools) {
    if (owners_.expressions.of(pool).counts_queue) {
      if (!queued)
        queued.emplace(owners_.waiting.queue(), owners_.menu.offerings(), owners_.policy);
      counts[pool].queued = queued->of(pool);
    }
    evaluate(pool, counts[pool], now);
  }
}

void BoundEvents::evaluate(std::uint32_t pool, const PoolCounts& counts, Now now) {
  const auto& policy = owners_.policy.pools[pool];
  auto& decision = owners_.decisions.at(pool);
  const ExpressionInputs::Subject subject{
      .keys = {policy.name}, .counts = counts, .knows_zones = owners_.decisions.knows_zones()};
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
  decision.due = decided.due;
  if (decision.due) decision.due = std::max(*decision.due, now.mono + kSoonest);
  owners_.bounds.say(pool, scheduler::kExpressionSource, decided.bounds);
  decision.last = std::move(decided);
  for (std::size_t i = 0; i < computed.size(); ++i)
    if (!are_early[i]) tell(pool, decision.last.notes[i], now);
  tell_ceiling(pool, now);
}

/// What waits for its first reading is no news: each start begins so.
void BoundEvents::tell(std::uint32_t pool, const BoundNote& note, Now now) {
  auto& decision = owners_.decisions.at(pool);
  auto& told = decision.told[static_cast<std::size_t>(note.of)];
  auto& told_at = decision.told_at[static_cast<std::size_t>(note.of)];
  if (told && (*told == note.number || now.mono - told_at < kToldInterval)) return;
  told_at = now.mono;
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
