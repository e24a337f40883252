#include "core/scheduler/gang_seats.h"

#include <algorithm>

#include "core/scheduler/steps.h"
#include "core/scheduler/whole_hosts.h"

namespace hostler::scheduler {

bool is_before(const Demand& a, const Demand& b) {
  const std::int32_t p = a.view->shape.priority, q = b.view->shape.priority;
  return p != q ? p > q : a.turn(a.placed) < b.turn(b.placed);
}

GangSeats::GangSeats(World& world, const Plan& plan, const Demand& gang)
    : world_(world),
      gang_(gang),
      need_(world.needs[gang.need]),
      reserved_(world.snapshot.hosts.size()) {
  std::set<model::InstanceId> reserved;
  for (const Reserve& one : plan.reservations) {
    const std::uint32_t holder = world.find(one.cls);
    if (holder != kNone && is_before(world.demand[holder], gang)) reserved.insert(one.host);
  }
  for (const std::uint32_t h : world.hosts)
    reserved_[h] = reserved.contains(world.snapshot.hosts[h].id);
}

bool GangSeats::find() {
  const Budget budget = world_.budget;
  const std::vector<demand::PriceBound> prices = world_.prices;
  const std::set<Zone> all = zones();
  const Zone* best = nullptr;
  std::tuple<From, Mono, std::size_t> least;
  for (const Zone& zone : all) {
    if (find_in(zone) && (best == nullptr || rank() < least)) best = &zone, least = rank();
    world_.budget = budget;
    world_.prices = prices;
  }
  return best != nullptr && find_in(*best);
}

std::set<GangSeats::Zone> GangSeats::zones() const {
  if (!gang_.view->shape.gang.one_zone) return {Zone()};
  std::set<Zone> out;
  for (const std::uint32_t o : world_.offers) {
    const Offering& offering = world_.snapshot.offerings[o];
    if (world_.meets(need_, o)) out.insert(std::pair(offering.set, offering.zone));
  }
  return out;
}

bool GangSeats::find_in(const Zone& zone) {
  seats_.clear();
  add_hosts(zone, /*later=*/false);
  add_switched_off(zone);
  add_new(zone);
  add_hosts(zone, /*later=*/true);
  if (seats_.size() >= most_) {
    most_ = seats_.size();
    const auto there = std::ranges::count_if(seats_, &Seat::is_host);
    missing_ = gang_.view->shape.gang.count - static_cast<std::size_t>(there);
  }
  return is_full();
}

std::tuple<From, Mono, std::size_t> GangSeats::rank() const {
  From last{};
  Mono free = Mono::min();
  std::size_t others = 0;
  for (const Seat& seat : seats_) {
    last = std::max(last, seat.from);
    if (!seat.is_host()) {
      ++others;
      continue;
    }
    const HostView& host = world_.snapshot.hosts[seat.index];
    if (host.reserved_for != gang_.view->id) ++others;
    if (seat.from >= From::kBusy) free = std::max(free, host.lent_until.value_or(Mono::max()));
  }
  return {last, free, others};
}

bool GangSeats::is_in(const HostView& host, const Zone& zone) const {
  const auto& offerings = world_.snapshot.offerings;
  return !zone || (host.offering < offerings.size() && is_in(offerings[host.offering], zone));
}

/// No other waiting work is to get the host.
bool GangSeats::is_free(const HostView& host) const {
  return std::ranges::all_of(host.load, [&](const demand::Load& load) {
    return std::ranges::all_of(world_.find_all(load.cls), [&](const auto& of) {
      return world_.demand[of.second].uncovered == 0;
    });
  });
}

/// A host that cannot be reached may come back; after probe_timeout its pool gives it up.
bool GangSeats::is_given_up(const HostView& host) const {
  const auto* pool = world_.pool(host);
  return host.unreachable_since &&
         (pool == nullptr || world_.snapshot.now - *host.unreachable_since >= pool->probe_timeout);
}

/// How the gang would get a host that is on; nullopt: it does not.
std::optional<From> GangSeats::from(std::uint32_t h) const {
  const HostView& host = world_.snapshot.hosts[h];
  if (!world_.is_alive(h) || host.kept || host.unseen || world_.given_up(need_, h) ||
      is_given_up(host) || !need_.resources.fits_in(host.total) || !world_.meets(need_, host))
    return std::nullopt;
  const auto later = [&](From how) {
    return world_.starves(gang_, host) ? std::optional(how) : std::nullopt;
  };
  const auto only_if = [](bool is_true, From how) {
    return is_true ? std::optional(how) : std::nullopt;
  };
  if (reserved_[h]) return later(From::kTheirs);
  if (host.busy)
    return host.lent_until || host.takes_work || host.unreachable_since ? later(From::kBusy)
                                                                        : std::nullopt;
  const bool is_used = world_.used[h];
  if (host.unreachable_since)
    return only_if(host.reserved_for == gang_.view->id && !is_used, From::kComing);
  if (host.phase == HostPhase::kComing)
    return is_free(host) && !is_used ? std::optional(From::kComing) : later(From::kTheirs);
  if (is_used && host.takes_work) return later(From::kBusy);  // It got work in this plan.
  return only_if(host.takes_work && host.attempts_left > 0, From::kReady);
}

/// `later`: adds the hosts that have other work first, those that are free soonest before others.
/// Otherwise adds the rest. One that it holds and of which nobody knows when it is free goes before
/// all: it was held for long, and another one may have got long work just now.
void GangSeats::add_hosts(const Zone& zone, bool later) {
  std::vector<std::tuple<From, bool, Mono, bool, std::uint32_t>> all;
  for (std::uint32_t at = 0; at < world_.hosts.size(); ++at) {
    const std::uint32_t h = world_.hosts[at];
    const HostView& host = world_.snapshot.hosts[h];
    const auto how = from(h);
    if (!how || (*how >= From::kBusy) != later || !is_in(host, zone)) continue;
    const bool is_held = host.reserved_for == gang_.view->id;
    const Mono free = host.lent_until.value_or(is_held ? Mono::min() : Mono::max());
    all.emplace_back(*how, host.unfulfilled_spot, free, !is_held, at);
  }
  std::ranges::sort(all);
  for (const auto& entry : all) {
    if (is_full()) return;
    const std::uint32_t h = world_.hosts[std::get<4>(entry)];
    take(std::get<0>(entry), h, world_.snapshot.hosts[h]);
  }
}

void GangSeats::add_switched_off(const Zone& zone) {
  for (const std::uint32_t h : wakeable(world_)) {
    const HostView& host = world_.snapshot.hosts[h];
    if (is_full()) return;
    if (!need_.resources.fits_in(host.total) || !world_.meets(need_, host) || !is_in(host, zone) ||
        !world_.budget.may_wake(host))
      continue;
    if (take(From::kOff, h, host)) world_.budget.wake(host);
  }
}

/// Hosts that end make room: the gang goes on holding the others until then.
void GangSeats::add_new(const Zone& zone) {
  if (is_full()) return;
  Budget later = world_.budget;
  for (const HostView& host : world_.snapshot.hosts)
    if (host.ends) later.free(host);
  for (const auto& equal : whole_hosts(world_, gang_))
    for (const std::uint32_t o : equal) {
      const Offering& offering = world_.snapshot.offerings[o];
      if (!is_in(offering, zone)) continue;
      while (!is_full() && later.has_room(offering)) {
        const bool now = world_.budget.creates(offering, 1) > 0;
        if (!take(now ? From::kNew : From::kLater, o, offering)) break;
        world_.budget.create(offering, 1);
        later.create(offering, 1);
      }
    }
}

template <class Where>
bool GangSeats::take(From how, std::uint32_t index, const Where& where) {
  if (world_.affordable(gang_, where, 1) == 0) return false;
  world_.pay(gang_, where, 1);
  seats_.push_back({how, index});
  return true;
}

}  // namespace hostler::scheduler
