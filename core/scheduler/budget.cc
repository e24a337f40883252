#include "core/scheduler/budget.h"

#include <algorithm>

#include "core/base/saturating.h"

namespace hostler::scheduler {
namespace {

/// "max", and of other sources than the configuration "max of 3 (pushed)".
std::string max_text(const char* what, const BoundNumber& number) {
  return number.mark.empty() ? what : what + std::string(" of ") + number.text();
}

template <class T>
void lower(std::optional<T>& left, T by) {
  if (left) left = *left > by ? T{*left - by} : T{};
}

}  // namespace

std::vector<HostsOfMax> hosts_of_max(const std::vector<HostView>& hosts,
                                     const std::vector<PoolNumbers>& bounds,
                                     const std::vector<std::int64_t>& set_aside) {
  std::vector<HostsOfMax> out(bounds.size());
  std::vector<std::int64_t> off_left;
  for (std::size_t p = 0; p < bounds.size(); ++p) {
    out[p].started = out[p].created = entry_of(set_aside, p);
    off_left.push_back(bounds[p].off_max());
  }
  for (const HostView& host : hosts) {
    if (host.phase == HostPhase::kLeaving || host.pool >= out.size()) continue;
    ++out[host.pool].created;
    const bool is_off = host.phase == HostPhase::kStopped && off_left[host.pool]-- > 0;
    if (!is_off) ++out[host.pool].started;
  }
  return out;
}

Budget::Budget(const Snapshot& snapshot, const model::SitePolicy& policy,
               const std::vector<PoolNumbers>& bounds)
    : snapshot_(&snapshot),
      policy_(&policy),
      bounds_(&bounds),
      site_(snapshot.site),
      sets_(snapshot.sets),
      pools_(snapshot.pools),
      unseen_(policy.sets.size()) {
  sets_.resize(policy.sets.size());
  pools_.resize(policy.pools.size());
  const std::vector<HostsOfMax> taken = hosts_of_max(snapshot.hosts, bounds, snapshot.set_aside);
  for (std::size_t p = 0; p < bounds.size(); ++p) {
    const std::int64_t started = bounds[p].is_held ? 0 : bounds[p].started.max.value;
    left_.push_back({started - taken[p].started, bounds[p].created.max.value - taken[p].created});
  }
  for (const HostView& host : snapshot.hosts)
    if (host.unseen && set_of(host) < unseen_.size()) unseen_[set_of(host)] = true;
}

std::int64_t Budget::creates(const Offering& o, std::int64_t wanted, std::string* ceiling,
                             ComesAs as) const {
  if (unseen_[o.set]) {
    if (ceiling != nullptr) *ceiling = "no list of set " + policy_->sets[o.set].name + " comes";
    return 0;
  }
  std::int64_t most = wanted;
  const auto bound = [&](std::int64_t limit, const auto& who, const auto& what) {
    if (limit >= most) return;
    most = std::max<std::int64_t>(0, limit);
    if (ceiling != nullptr) *ceiling = who() + " is at its ceiling: " + what();
  };
  const auto says = [](const char* what) { return [what] { return what; }; };
  const auto check = [&](const gates::Headroom& room, const auto& who) {
    if (room.instances) bound(*room.instances, who, says("instances"));
    if (room.creates) bound(*room.creates, who, says("creates per minute"));
    if (room.price_per_hour && o.price_per_hour.value > 0)
      bound(room.price_per_hour->value / o.price_per_hour.value, who, says("price per hour"));
  };
  const auto pool = [&] { return "pool " + policy_->pools[o.pool].name; };
  const PoolNumbers& bounds = (*bounds_)[o.pool];
  const HostsOfMax& left = left_[o.pool];
  if (as == ComesAs::kStarted || !bounds.has_created)
    bound(left.started, pool, [&] { return max_text("max", bounds.started.max); });
  bound(left.created, pool,
        [&] { return max_text("switched-off hosts included, max", bounds.created.max); });
  check(pools_[o.pool], pool);
  check(sets_[o.set], [&] { return "set " + policy_->sets[o.set].name; });
  check(site_, [] { return std::string("the site"); });
  return most;
}

template <class Do>
void Budget::each(std::uint32_t set, std::uint32_t pool, Do act) {
  act(site_);
  if (set < sets_.size()) act(sets_[set]);
  if (pool < pools_.size()) act(pools_[pool]);
}

void Budget::create(const Offering& o, std::int64_t count) {
  left_[o.pool].started -= count;
  left_[o.pool].created -= count;
  each(o.set, o.pool, [&](gates::Headroom& room) {
    lower(room.instances, count);
    lower(room.creates, count);
    // The product is within the headroom: creates() has checked it.
    if (room.price_per_hour)
      room.price_per_hour->value -= std::min(std::max<std::int64_t>(0, room.price_per_hour->value),
                                             o.price_per_hour.value * count);
  });
}

bool Budget::has_room(const Offering& o) const {
  const auto ok = [&](const gates::Headroom& room) {
    return (!room.instances || *room.instances > 0) &&
           (!room.price_per_hour || o.price_per_hour.value <= 0 ||
            *room.price_per_hour >= o.price_per_hour);
  };
  const HostsOfMax& left = left_[o.pool];
  return !unseen_[o.set] && left.started > 0 && left.created > 0 && ok(site_) && ok(sets_[o.set]) &&
         ok(pools_[o.pool]);
}

bool Budget::rate_allows(const Offering& o) const {
  const auto ok = [](const gates::Headroom& room) { return !room.creates || *room.creates > 0; };
  return ok(site_) && ok(sets_[o.set]) && ok(pools_[o.pool]);
}

bool Budget::helps(const Offering& o, const HostView& host) const {
  const gates::Headroom& room = sets_[o.set];
  const bool set_blocks = (room.instances && *room.instances <= 0) ||
                          (room.price_per_hour && *room.price_per_hour < o.price_per_hour);
  return !set_blocks || set_of(host) == o.set;
}

std::string Budget::passed_price(const HostView& host) const {
  const auto is_passed = [](const gates::Headroom& room) {
    return room.price_per_hour && room.price_per_hour->value < 0;
  };
  if (is_passed(site_)) return "the site";
  const std::uint32_t set = set_of(host);
  if (set < sets_.size() && is_passed(sets_[set])) return "set " + policy_->sets[set].name;
  if (host.pool < pools_.size() && is_passed(pools_[host.pool]))
    return "pool " + policy_->pools[host.pool].name;
  return {};
}

std::uint32_t Budget::set_of(const HostView& host) const {
  return host.offering < snapshot_->offerings.size() ? snapshot_->offerings[host.offering].set
                                                     : UINT32_MAX;
}

void Budget::free(const HostView& host) {
  if (host.pool < left_.size() && host.phase != HostPhase::kLeaving) {
    ++left_[host.pool].started;
    ++left_[host.pool].created;
  }
  each(set_of(host), host.pool, [&](gates::Headroom& room) {
    if (room.instances) ++*room.instances;
    if (room.price_per_hour)
      room.price_per_hour->value =
          add_saturating(room.price_per_hour->value, host.price_per_hour.value);
  });
}

bool Budget::may_wake(const HostView& host) const { return left_[host.pool].started > 0; }

void Budget::wake(const HostView& host) { --left_[host.pool].started; }

bool Budget::may_destroy(const HostView& host) const {
  const auto ok = [](const gates::Headroom& room) { return !room.destroys || *room.destroys > 0; };
  const std::uint32_t set = set_of(host);
  return ok(site_) && (set >= sets_.size() || ok(sets_[set])) &&
         (host.pool >= pools_.size() || ok(pools_[host.pool]));
}

void Budget::destroy(const HostView& host) {
  each(set_of(host), host.pool,
       [](gates::Headroom& room) { lower(room.destroys, std::int64_t{1}); });
}

}  // namespace hostler::scheduler
