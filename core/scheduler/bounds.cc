#include "core/scheduler/bounds.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/scheduler/beyond_max.h"

namespace hostler::scheduler {
namespace {

bool is_max(BoundOf of) { return of == BoundOf::kStartedMax || of == BoundOf::kCreatedMax; }

/// The bounds of one kind from all sources; null: there is none.
struct Merged {
  const Bound* known = nullptr;  ///< The largest minimum, or the smallest maximum.
  const Bound* unknown = nullptr;
};

class MergedBounds {
 public:
  void add(std::span<const Bound> bounds) {
    for (const Bound& bound : bounds) {
      auto& [known, unknown] = merged_[static_cast<std::size_t>(bound.of)];
      if (!bound.number) {
        if (unknown == nullptr) unknown = &bound;
      } else if (known == nullptr || (is_max(bound.of) ? *bound.number < *known->number
                                                       : *bound.number > *known->number)) {
        known = &bound;
      }
    }
  }
  [[nodiscard]] const Merged& of(BoundOf of) const { return merged_[static_cast<std::size_t>(of)]; }
  [[nodiscard]] std::int64_t number(BoundOf of, std::int64_t other) const {
    return this->of(of).known != nullptr ? *this->of(of).known->number : other;
  }
  [[nodiscard]] bool is_any_unknown() const {
    return std::ranges::any_of(merged_, [](const Merged& one) { return one.unknown != nullptr; });
  }
  /// A number is negative, or a minimum is above its maximum.
  [[nodiscard]] bool contradicts_itself() const {
    return std::ranges::any_of(
               merged_,
               [](const Merged& one) { return one.known != nullptr && *one.known->number < 0; }) ||
           number(BoundOf::kStartedMin, 0) > number(BoundOf::kStartedMax, kNoLimit) ||
           number(BoundOf::kCreatedMin, 0) > number(BoundOf::kCreatedMax, kNoLimit);
  }

 private:
  std::array<Merged, kBoundsOfPool> merged_;
};

/// The hosts that a pool has now.
struct Present {
  std::int64_t alive = 0, off = 0;
  std::int64_t counted = 0;  ///< For the maximum, as closed_hosts() does.
  std::int64_t all_off = 0;  ///< Switched off, kept for the pool or not.
  std::int64_t others = 0;   ///< Neither alive nor off, and a Budget counts them.
  std::int64_t drains = 0;   ///< Of these, hosts that will be switched off.
};

std::vector<Present> present_in(std::size_t pools, const std::vector<HostView>& hosts,
                                const std::vector<std::int64_t>& set_aside) {
  std::vector<Present> out(pools);
  for (std::size_t p = 0; p < pools; ++p) out[p].counted = out[p].others = entry_of(set_aside, p);
  for (const HostView& host : hosts) {
    if (host.pool >= pools) continue;
    Present& there = out[host.pool];
    if (host.phase == HostPhase::kStopped)
      ++there.all_off;
    else if (host.phase != HostPhase::kLeaving)
      ++there.others;
    const bool is_counted = counts_for_max(host), is_on_menu = host.offering != UINT32_MAX;
    if (is_counted) ++there.counted;
    if (is_counted && is_on_menu) ++there.alive, --there.others;
    if (host.is_standby() && is_on_menu) ++there.off;
    if (drains_to_standby(host)) ++there.drains;
  }
  return out;
}

std::string in_brackets(const Bound& bound, const char* before, const char* after) {
  return std::string(" (") + before + bound.source + after +
         (bound.reason.empty() ? "" : ": " + bound.reason) + ")";
}

BoundNumber known_number(const Merged& merged, std::int64_t otherwise) {
  if (merged.known == nullptr) return {otherwise, {}};
  const Bound& bound = *merged.known;
  return {std::clamp<std::int64_t>(*bound.number, 0, kBoundMax),
          bound.source == kConfigSource ? std::string() : in_brackets(bound, "", "")};
}

BoundNumber present_number(const Merged& merged, std::int64_t there) {
  return {there, in_brackets(*merged.unknown, "as now, ", " does not know")};
}

void raise(BoundNumber& number, const Merged& merged, std::int64_t there) {
  if (merged.unknown != nullptr && there > number.value) number = present_number(merged, there);
}

void lower(BoundNumber& number, const Merged& merged, std::int64_t there) {
  if (merged.unknown != nullptr && there < number.value) number = present_number(merged, there);
}

void cap(BoundNumber& number, const BoundNumber& max) {
  if (max.value < number.value) number = max;
}

/// An unknown maximum leaves room for the known minimums, also beside hosts that a Budget counts
/// and that are not alive: those that go, or are set aside.
void lower_max(PoolNumbers& out, const MergedBounds& merged, const Present& there) {
  const std::int64_t started = std::max({there.alive, out.started.min.value, out.standby.value});
  const std::int64_t drains = out.has_created ? there.drains : 0;
  const std::int64_t off = std::max(out.stopped.value, there.off + drains);
  const std::int64_t created = std::max(out.created.min.value, started + off);
  const bool is_started_missing = started > there.alive;
  const bool is_created_missing = created > there.alive + there.off + drains;
  const std::int64_t off_beyond = std::max<std::int64_t>(0, there.all_off - out.off_max());
  lower(out.started.max, merged.of(BoundOf::kStartedMax),
        is_started_missing ? started + there.others + off_beyond : there.counted);
  lower(out.created.max, merged.of(BoundOf::kCreatedMax),
        is_created_missing ? created + there.others - drains + there.all_off - there.off
                           : there.counted + off);
}

PoolNumbers numbers_of(const MergedBounds& merged, const Present& there) {
  using enum BoundOf;
  PoolNumbers out;
  out.started = {known_number(merged.of(kStartedMin), 0),
                 known_number(merged.of(kStartedMax), kNoLimit)};
  out.created = {known_number(merged.of(kCreatedMin), 0),
                 known_number(merged.of(kCreatedMax), kNoLimit)};
  out.standby = known_number(merged.of(kStandby), 0);
  out.stopped = known_number(merged.of(kStopped), 0);
  for (const BoundOf of : {kCreatedMin, kCreatedMax})
    out.has_created |= merged.of(of).known != nullptr || merged.of(of).unknown != nullptr;
  out.has_unknown_stopped = merged.of(kStopped).unknown != nullptr;
  lower_max(out, merged, there);
  // An idle host would be switched off for a number of created hosts that nobody knows.
  for (const BoundOf of : {kStartedMin, kStandby, kCreatedMin, kStopped})
    raise(out.started.min, merged.of(of), there.alive);
  const std::int64_t drains = out.has_created ? there.drains : 0;
  for (const BoundOf of : {kCreatedMin, kStopped})
    raise(out.created.min, merged.of(of), there.alive + there.off + drains);
  cap(out.started.max, out.created.max);
  cap(out.started.min, out.started.max);
  cap(out.created.min, out.created.max);
  for (const BoundOf of : {kStartedMin, kCreatedMin, kStandby, kStopped})
    out.has_unknown_min |= merged.of(of).unknown != nullptr;
  return out;
}

/// No number of the policy is out of range, its sizes aside.
bool makes_sense(const model::PoolPolicy& pool) {
  const auto duration_ok = [](Duration d) { return d >= Duration::zero(); };
  return std::isfinite(pool.price_factor_max) && pool.price_factor_max > 0 &&
         pool.price_cap_per_hour.value >= 0 && duration_ok(pool.idle_timeout) &&
         duration_ok(pool.probe_timeout) && duration_ok(pool.spot_patience) &&
         duration_ok(pool.spot_shortage_patience) && duration_ok(pool.starvation_after);
}

/// The source `pushed` says a maximum: the number, or nullopt if it does not know.
std::optional<std::optional<std::int64_t>> pushed_max(std::span<const Bound> bounds) {
  const auto found = std::ranges::find_if(bounds, [](const Bound& bound) {
    return bound.of == BoundOf::kStartedMax && bound.source == kPushedSource;
  });
  if (found == bounds.end()) return std::nullopt;
  return found->number;
}

/// `present` gives the hosts that are there; it is called only if a bound is unknown.
template <class Present>
PoolNumbers numbers_of(const model::PoolPolicy& pool, std::span<const Bound> others,
                       Present present) {
  const ConfigBounds config = bounds_of_config(pool, others);
  MergedBounds all;
  all.add(config.all());
  const bool is_held = all.contradicts_itself() || !makes_sense(pool);
  all.add(others);
  PoolNumbers out = numbers_of(all, all.is_any_unknown() ? present() : scheduler::Present{});
  out.is_held = is_held;
  out.goes_by_load = config.has_texts || !pool.scaling.rank.empty();
  if (pool.pushed) {
    const auto said = pushed_max(others);
    out.is_stale = !said || !*said;
    out.is_abandoned = said && *said == 0;
  }
  return out;
}

}  // namespace

bool drains_to_standby(const HostView& host) {
  return host.drain != DrainPhase::kNone && host.is_on() && host.may_stop() && !host.kept &&
         !host.draining && !host.cordoned && host.offering != UINT32_MAX;
}

std::vector<PoolNumbers> numbers_of(const model::SitePolicy& policy, const BoundsByPool& others,
                                    const std::vector<HostView>& hosts,
                                    const std::vector<std::int64_t>& set_aside) {
  const auto& pools = policy.pools;
  std::vector<Present> there;
  std::vector<PoolNumbers> out;
  out.reserve(pools.size());
  for (std::size_t p = 0; p < pools.size(); ++p)
    out.push_back(numbers_of(pools[p], entry_of(others, p), [&] {
      if (there.empty()) there = present_in(pools.size(), hosts, set_aside);
      return there[p];
    }));
  return out;
}

PoolNumbers numbers_of(const model::SitePolicy& policy, const BoundsByPool& others,
                       const std::vector<HostView>& hosts,
                       const std::vector<std::int64_t>& set_aside, std::uint32_t pool) {
  const auto& pools = policy.pools;
  return numbers_of(pools[pool], entry_of(others, pool),
                    [&] { return present_in(pools.size(), hosts, set_aside)[pool]; });
}

}  // namespace hostler::scheduler
