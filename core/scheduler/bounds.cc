#include "core/scheduler/bounds.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/scheduler/beyond_max.h"

namespace hostler::scheduler {
namespace {

/// Sources may say any number.
constexpr std::int64_t kNumberMax = 1'000'000'000;

bool is_at_most(BoundOf of) { return of == BoundOf::kStartedMax || of == BoundOf::kCreatedMax; }

/// What all sources together say of one bound; null: none does.
struct Said {
  const Bound* known = nullptr;  ///< The largest at least, or the smallest at most.
  const Bound* unknown = nullptr;
};

class SaidOfPool {
 public:
  void add(std::span<const Bound> bounds) {
    for (const Bound& bound : bounds) {
      auto& [known, unknown] = said_[static_cast<std::size_t>(bound.of)];
      if (!bound.number) {
        if (unknown == nullptr) unknown = &bound;
      } else if (known == nullptr || (is_at_most(bound.of) ? *bound.number < *known->number
                                                           : *bound.number > *known->number)) {
        known = &bound;
      }
    }
  }
  [[nodiscard]] const Said& of(BoundOf of) const { return said_[static_cast<std::size_t>(of)]; }
  [[nodiscard]] std::int64_t number(BoundOf of, std::int64_t other) const {
    return this->of(of).known != nullptr ? *this->of(of).known->number : other;
  }
  /// Negative, or an at least above its at most.
  [[nodiscard]] bool contradicts_itself() const {
    return std::ranges::any_of(
               said_, [](const Said& s) { return s.known != nullptr && *s.known->number < 0; }) ||
           number(BoundOf::kStartedMin, 0) > number(BoundOf::kStartedMax, kNoLimit) ||
           number(BoundOf::kCreatedMin, 0) > number(BoundOf::kCreatedMax, kNoLimit);
  }

 private:
  std::array<Said, kBoundsOfPool> said_;
};

/// What a pool has now.
struct Present {
  std::int64_t alive = 0, off = 0;
  std::int64_t counted = 0;  ///< For the maximum, as closed_hosts() does.
};

std::vector<Present> present_in(std::size_t pools, const std::vector<HostView>& hosts,
                                const std::vector<std::int64_t>& set_aside) {
  std::vector<Present> out(pools);
  for (std::size_t p = 0; p < std::min(pools, set_aside.size()); ++p) out[p].counted = set_aside[p];
  for (const HostView& host : hosts) {
    if (host.pool >= pools) continue;
    Present& there = out[host.pool];
    const bool is_counted = counts_for_max(host), is_on_menu = host.offering != UINT32_MAX;
    if (is_counted) ++there.counted;
    if (is_counted && is_on_menu) ++there.alive;
    if (host.is_standby() && is_on_menu) ++there.off;
  }
  return out;
}

std::string in_brackets(const Bound& bound, const char* before, const char* after) {
  return std::string(" (") + before + bound.source + after +
         (bound.reason.empty() ? "" : ": " + bound.reason) + ")";
}

Number known(const Said& said, std::int64_t otherwise) {
  if (said.known == nullptr) return {otherwise, {}};
  const Bound& bound = *said.known;
  return {std::clamp<std::int64_t>(*bound.number, 0, kNumberMax),
          bound.source == kConfigSource ? std::string() : in_brackets(bound, "", "")};
}

Number present(const Said& said, std::int64_t there) {
  return {there, in_brackets(*said.unknown, "as now, ", " does not know")};
}

void raise(Number& number, const Said& said, std::int64_t there) {
  if (said.unknown != nullptr && there > number.value) number = present(said, there);
}

void lower(Number& number, const Said& said, std::int64_t there) {
  if (said.unknown != nullptr && there < number.value) number = present(said, there);
}

void win(Number& at_least, const Number& at_most) {
  if (at_most.value < at_least.value) at_least = at_most;
}

PoolNumbers numbers_of(const SaidOfPool& said, const Present& there) {
  using enum BoundOf;
  PoolNumbers out;
  out.started = {known(said.of(kStartedMin), 0), known(said.of(kStartedMax), kNoLimit)};
  out.created = {known(said.of(kCreatedMin), 0), known(said.of(kCreatedMax), kNoLimit)};
  out.standby = known(said.of(kStandby), 0);
  out.stopped = known(said.of(kStopped), 0);
  // An at most that is unknown leaves room for the at leasts that are known.
  const std::int64_t started = std::max(out.started.at_least.value, out.standby.value);
  const std::int64_t off = std::max(out.stopped.value, there.off);
  lower(out.started.at_most, said.of(kStartedMax), std::max(there.counted, started));
  lower(out.created.at_most, said.of(kCreatedMax),
        std::max(out.created.at_least.value, std::max(there.counted, started) + off));
  for (const BoundOf of : {kStartedMin, kStandby, kStopped})
    raise(out.started.at_least, said.of(of), there.alive);
  for (const BoundOf of : {kCreatedMin, kStopped})
    raise(out.created.at_least, said.of(of), there.alive + there.off);
  win(out.started.at_most, out.created.at_most);
  win(out.started.at_least, out.started.at_most);
  win(out.created.at_least, out.created.at_most);
  for (const BoundOf of : {kCreatedMin, kCreatedMax})
    out.has_created |= said.of(of).known != nullptr || said.of(of).unknown != nullptr;
  for (const BoundOf of : {kStartedMin, kCreatedMin, kStandby, kStopped})
    out.is_unsure |= said.of(of).unknown != nullptr;
  out.has_created |= said.of(kStopped).unknown != nullptr;
  return out;
}

/// False for a policy that contradicts itself, its sizes aside.
bool makes_sense(const model::PoolPolicy& pool) {
  const auto duration_ok = [](Duration d) { return d >= Duration::zero(); };
  return std::isfinite(pool.price_factor_max) && pool.price_factor_max > 0 &&
         pool.price_cap_per_hour.value >= 0 && duration_ok(pool.idle_timeout) &&
         duration_ok(pool.probe_timeout) && duration_ok(pool.spot_patience) &&
         duration_ok(pool.spot_shortage_patience) && duration_ok(pool.starvation_after);
}

bool is_any_unknown(const std::vector<Bound>& said) {
  return std::ranges::any_of(said, [](const Bound& bound) { return !bound.number; });
}

PoolNumbers numbers_of(const model::PoolPolicy& pool, std::span<const Bound> said,
                       const Present& there) {
  const auto config = bounds_of_config(pool);
  SaidOfPool all;
  all.add(config);
  const bool is_held = all.contradicts_itself() || !makes_sense(pool);
  all.add(said);
  PoolNumbers out = numbers_of(all, there);
  out.is_held = is_held;
  return out;
}

}  // namespace

std::vector<PoolNumbers> numbers_of(const model::SitePolicy& policy, const SaidBounds& said,
                                    const std::vector<HostView>& hosts,
                                    const std::vector<std::int64_t>& set_aside) {
  const auto& pools = policy.pools;
  std::vector<Present> there;
  if (std::ranges::any_of(said, is_any_unknown)) there = present_in(pools.size(), hosts, set_aside);
  std::vector<PoolNumbers> out;
  out.reserve(pools.size());
  for (std::size_t p = 0; p < pools.size(); ++p)
    out.push_back(numbers_of(
        pools[p], p < said.size() ? std::span<const Bound>(said[p]) : std::span<const Bound>(),
        there.empty() ? Present{} : there[p]));
  return out;
}

PoolNumbers numbers_of(const model::SitePolicy& policy, const SaidBounds& said,
                       const std::vector<HostView>& hosts,
                       const std::vector<std::int64_t>& set_aside, std::uint32_t pool) {
  const auto& pools = policy.pools;
  if (pool >= said.size()) return numbers_of(pools[pool], {}, {});
  const bool needs_hosts = is_any_unknown(said[pool]);
  return numbers_of(pools[pool], said[pool],
                    needs_hosts ? present_in(pools.size(), hosts, set_aside)[pool] : Present{});
}

}  // namespace hostler::scheduler
