#include "core/gates/governor.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/base/assert.h"

namespace hostler::gates {
namespace {

using namespace std::chrono_literals;
using model::Micros;

constexpr Duration kRateWindow = 1min;

Micros saturated(Micros a, Micros b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.value, b.value, &sum))
    return {b.value > 0 ? std::numeric_limits<std::int64_t>::max()
                        : std::numeric_limits<std::int64_t>::min()};
  return {sum};
}

std::int64_t in_window(const std::deque<Mono>& creates, Mono now) {
  return creates.end() - std::upper_bound(creates.begin(), creates.end(), now - kRateWindow);
}

std::string at_ceiling(const std::string& name, const char* ceiling, std::int64_t have,
                       std::int64_t most) {
  return name + " is at its ceiling: " + ceiling + " " + std::to_string(have) + " of " +
         std::to_string(most);
}

}  // namespace

Governor::Governor(const model::SitePolicy& policy)
    : site_{.name = "site", .ceilings = policy.ceilings, .usage = {}, .creates = {}} {
  for (const auto& set : policy.sets)
    sets_.push_back(
        {.name = "set " + set.name, .ceilings = set.ceilings, .usage = {}, .creates = {}});
  for (const auto& pool : policy.pools)
    pools_.push_back(
        {.name = "pool " + pool.name, .ceilings = pool.ceilings, .usage = {}, .creates = {}});
}

template <class Self, class Do>
void Governor::each(Self& self, std::uint32_t set, std::uint32_t pool, Do act) {
  act(self.site_);
  if (set < self.sets_.size()) act(self.sets_[set]);
  if (pool < self.pools_.size()) act(self.pools_[pool]);
}

void Governor::added(std::uint32_t set, std::uint32_t pool, Micros price) {
  each(*this, set, pool, [&](Account& a) {
    ++a.usage.instances;
    a.usage.price_per_hour = saturated(a.usage.price_per_hour, price);
  });
}

void Governor::removed(std::uint32_t set, std::uint32_t pool, Micros price) {
  each(*this, set, pool, [&](Account& a) {
    HOSTLER_ASSERT(a.usage.instances > 0, "an instance that is removed was added");
    --a.usage.instances;
    a.usage.price_per_hour = saturated(a.usage.price_per_hour, {-price.value});
  });
}

void Governor::create_sent(std::uint32_t set, std::uint32_t pool, Mono now) {
  each(*this, set, pool, [&](Account& a) {
    if (a.ceilings.creates_per_minute_max <= 0) return;
    while (!a.creates.empty() && a.creates.front() <= now - kRateWindow) a.creates.pop_front();
  });
  reserve_create(set, pool, now);
}

void Governor::reserve_create(std::uint32_t set, std::uint32_t pool, Mono at) {
  each(*this, set, pool, [&](Account& a) {
    if (a.ceilings.creates_per_minute_max > 0)
      a.creates.insert(std::ranges::upper_bound(a.creates, at), at);
  });
}

void Governor::release_create(std::uint32_t set, std::uint32_t pool, Mono at) {
  each(*this, set, pool, [&](Account& a) {
    const auto found = std::ranges::lower_bound(a.creates, at);
    if (found != a.creates.end() && *found == at) a.creates.erase(found);
  });
}

void Governor::keep_creates_of(const Governor& before) {
  const auto keep = [](Account& a, const Account& old) {
    if (a.ceilings.creates_per_minute_max > 0) a.creates = old.creates;
  };
  keep(site_, before.site_);
  for (std::size_t i = 0; i < sets_.size() && i < before.sets_.size(); ++i)
    keep(sets_[i], before.sets_[i]);
  for (std::size_t i = 0; i < pools_.size() && i < before.pools_.size(); ++i)
    keep(pools_[i], before.pools_[i]);
}

std::string Governor::refuses_create(std::uint32_t set, std::uint32_t pool, Micros price,
                                     Mono now) const {
  std::string no;
  each(*this, set, pool, [&](const Account& a) {
    if (!no.empty()) return;
    const auto& most = a.ceilings;
    if (most.instances_max > 0 && a.usage.instances >= most.instances_max) {
      no = at_ceiling(a.name, "instances", a.usage.instances, most.instances_max);
    } else if (most.price_per_hour_max.value > 0 &&
               saturated(a.usage.price_per_hour, price) > most.price_per_hour_max) {
      no = at_ceiling(a.name, "millionths per hour", a.usage.price_per_hour.value,
                      most.price_per_hour_max.value) +
           ", one more costs " + std::to_string(price.value);
    } else if (most.creates_per_minute_max > 0 &&
               in_window(a.creates, now) >= most.creates_per_minute_max) {
      no = at_ceiling(a.name, "creates in the last minute", in_window(a.creates, now),
                      most.creates_per_minute_max);
    }
  });
  return no;
}

void Governor::begin_decision() {
  site_.destroys = 0;
  for (Account& a : sets_) a.destroys = 0;
  for (Account& a : pools_) a.destroys = 0;
}

std::string Governor::refuses_destroy(std::uint32_t set, std::uint32_t pool) const {
  std::string no;
  each(*this, set, pool, [&](const Account& a) {
    if (no.empty() && a.ceilings.destroys_per_decision_max > 0 &&
        a.destroys >= a.ceilings.destroys_per_decision_max)
      no = at_ceiling(a.name, "destroys in one decision", a.destroys,
                      a.ceilings.destroys_per_decision_max);
  });
  return no;
}

void Governor::destroy_decided(std::uint32_t set, std::uint32_t pool) {
  each(*this, set, pool, [](Account& a) { ++a.destroys; });
}

Headroom Governor::headroom(const Account& a, Mono now) {
  const auto left = [](std::int64_t most, std::int64_t have) {
    return std::max<std::int64_t>(0, most - std::max<std::int64_t>(0, have));
  };
  Headroom room;
  if (a.ceilings.instances_max > 0)
    room.instances = left(a.ceilings.instances_max, a.usage.instances);
  if (a.ceilings.creates_per_minute_max > 0)
    room.creates = left(a.ceilings.creates_per_minute_max, in_window(a.creates, now));
  if (a.ceilings.destroys_per_decision_max > 0)  // The next decision starts at 0.
    room.destroys = a.ceilings.destroys_per_decision_max;
  if (a.ceilings.price_per_hour_max.value > 0)
    room.price_per_hour = Micros{a.ceilings.price_per_hour_max.value -
                                 std::max<std::int64_t>(0, a.usage.price_per_hour.value)};
  return room;
}

Headroom Governor::site(Mono now) const { return headroom(site_, now); }
Headroom Governor::set(std::uint32_t index, Mono now) const { return headroom(sets_[index], now); }
Headroom Governor::pool(std::uint32_t index, Mono now) const {
  return headroom(pools_[index], now);
}

std::optional<Mono> Governor::next_create(Mono now) const {
  std::optional<Mono> first;
  const auto check = [&](const Account& a) {
    const std::int64_t most = a.ceilings.creates_per_minute_max;
    const std::int64_t have = in_window(a.creates, now);
    if (most <= 0 || have < most) return;
    const Mono frees = a.creates[a.creates.size() - static_cast<std::size_t>(most)] + kRateWindow;
    if (!first || frees < *first) first = frees;
  };
  check(site_);
  for (const Account& a : sets_) check(a);
  for (const Account& a : pools_) check(a);
  return first;
}

}  // namespace hostler::gates
