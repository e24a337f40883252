#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/scheduler/steps.h"
#include "core/scheduler/whole_hosts.h"

/// Gangs: their items get hosts all together. A plan keeps nothing: a gang goes on holding the
/// hosts that the last plan has reserved for it while all of its hosts are still to be had.
namespace hostler::scheduler {
namespace {

using model::WaitingCode;

/// How a gang gets one of its hosts; the soonest first.
enum class From : std::uint8_t { kReady, kComing, kOff, kNew, kLater, kBusy };
struct Seat {
  From from{};
  std::uint32_t index = 0;  ///< Of the host; of the offering, if it is to be created.
};

/// Finds the hosts of one gang.
class Gatherer {
 public:
  Gatherer(World& world, const Plan& plan, Demand& demand)
      : world_(world),
        demand_(demand),
        need_(world.needs[demand.need]),
        gang_(demand.view->shape.gang),
        reserved_(world.snapshot.hosts.size()) {
    for (const std::uint32_t h : world.hosts)
      reserved_[h] = std::ranges::any_of(plan.reservations, [&](const Reserve& one) {
        return one.host == world.snapshot.hosts[h].id;
      });
  }

  /// False: not all are to be had now, and nothing is taken.
  bool find() {
    if (!gang_.one_zone) return find_in(std::nullopt);
    std::set<std::string> zones;
    for (const std::uint32_t o : world_.offers)
      if (world_.meets(need_, o)) zones.insert(world_.snapshot.offerings[o].zone);
    return std::ranges::any_of(zones, [&](const std::string& zone) { return find_in(zone); });
  }
  [[nodiscard]] const std::vector<Seat>& seats() const { return seats_; }
  /// Of the try that found most.
  [[nodiscard]] std::size_t most() const { return most_; }

 private:
  using Zone = std::optional<std::string>;

  bool find_in(const Zone& zone) {
    seats_.clear();
    const Budget budget = world_.budget;
    const std::vector<demand::PriceBound> prices = world_.prices;
    add_hosts(zone, false);
    add_switched_off(zone);
    add_new(zone);
    add_hosts(zone, true);
    most_ = std::max(most_, seats_.size());
    if (is_full()) return true;
    world_.budget = budget;
    world_.prices = prices;
    return false;
  }

  [[nodiscard]] bool is_full() const { return seats_.size() == gang_.count; }

  [[nodiscard]] bool is_in(const HostView& host, const Zone& zone) const {
    const auto& offerings = world_.snapshot.offerings;
    return !zone || (host.offering < offerings.size() && offerings[host.offering].zone == *zone);
  }

  /// Its own, or nobody's.
  [[nodiscard]] bool is_free_for_it(const HostView& host) const {
    return std::ranges::all_of(
        host.load, [&](const demand::Load& load) { return load.cls == demand_.view->id; });
  }

  [[nodiscard]] bool starves(const HostView& host) const {
    const auto* pool = world_.pool(host);
    return pool != nullptr && world_.snapshot.now - demand_.view->oldest >= pool->starvation_after;
  }

  /// How the gang would get a host that is on; nullopt: it does not.
  [[nodiscard]] std::optional<From> from(std::uint32_t h) const {
    const HostView& host = world_.snapshot.hosts[h];
    if (!world_.is_alive(h) || host.kept || reserved_[h] || host.unreachable_since ||
        world_.given_up(need_, h) || !need_.resources.fits_in(host.total) ||
        !world_.meets(need_, host))
      return std::nullopt;
    if (host.phase == HostPhase::kComing)
      return !host.unseen && !host.unfulfilled_spot && !world_.used[h] && is_free_for_it(host)
                 ? std::optional(From::kComing)
                 : std::nullopt;
    const bool is_empty = host.takes_work && !host.busy && !world_.used[h];
    if (is_empty && host.attempts_left > 0) return From::kReady;
    const bool empties = host.lent_until || host.takes_work;
    return !is_empty && empties && starves(host) ? std::optional(From::kBusy) : std::nullopt;
  }

  void add_hosts(const Zone& zone, bool busy) {
    std::vector<std::tuple<From, bool, Mono, std::uint32_t>> all;
    for (std::uint32_t at = 0; at < world_.hosts.size(); ++at) {
      const std::uint32_t h = world_.hosts[at];
      const HostView& host = world_.snapshot.hosts[h];
      const auto how = from(h);
      if (how && (*how == From::kBusy) == busy && is_in(host, zone))
        all.emplace_back(*how, host.reserved_for != demand_.view->id,
                         host.lent_until.value_or(Mono::max()), at);
    }
    std::ranges::sort(all);
    for (const auto& entry : all) {
      if (is_full()) return;
      const std::uint32_t h = world_.hosts[std::get<3>(entry)];
      take(std::get<0>(entry), h, world_.snapshot.hosts[h]);
    }
  }

  void add_switched_off(const Zone& zone) {
    for (const std::uint32_t h : wakeable(world_)) {
      const HostView& host = world_.snapshot.hosts[h];
      if (is_full()) return;
      if (!need_.resources.fits_in(host.total) || !world_.meets(need_, host) ||
          !is_in(host, zone) || !world_.budget.may_wake(host))
        continue;
      if (take(From::kOff, h, host)) world_.budget.wake(host);
    }
  }

  void add_new(const Zone& zone) {
    for (const auto& equal : whole_hosts(world_, demand_))
      for (const std::uint32_t o : equal) {
        const Offering& offering = world_.snapshot.offerings[o];
        if (zone && offering.zone != *zone) continue;
        while (!is_full() && world_.budget.has_room(offering)) {
          // A ceiling of creates per minute delays a gang, it does not forbid one.
          const bool now = world_.budget.creates(offering, 1) > 0;
          if (!take(now ? From::kNew : From::kLater, o, offering)) break;
          world_.budget.create(offering, 1);
        }
      }
  }

  template <class Where>
  bool take(From how, std::uint32_t index, const Where& where) {
    if (world_.affordable(demand_, where, 1) == 0) return false;
    world_.pay(demand_, where, 1);
    seats_.push_back({how, index});
    return true;
  }

  World& world_;
  Demand& demand_;
  const Need& need_;
  const model::Gang& gang_;
  std::vector<bool> reserved_;  ///< By host, for others by this plan.
  std::vector<Seat> seats_;
  std::size_t most_ = 0;
};

/// Adds the decisions about one gang to the plan.
class GangPlan {
 public:
  GangPlan(World& world, Plan& plan, Demand& demand)
      : world_(world), plan_(plan), demand_(demand) {}

  void begin(const std::vector<Seat>& seats) {
    for (const Seat& seat : seats) {
      world_.used[seat.index] = true;
      plan_.places.push_back({world_.snapshot.hosts[seat.index].id, demand_.view->id, 1});
    }
    demand_.placed = seats.size();
  }

  void hold(const std::vector<Seat>& seats) {
    const std::string size = std::to_string(seats.size());
    const std::string reason = "a gang of " + size + " leases needs it";
    std::size_t ready = 0;
    for (const Seat& seat : seats) {
      if (seat.from == From::kReady) ++ready;
      hold(seat, reason);
    }
    wait(WaitingCode::kReserved, "its gang of " + size + " holds its hosts, " +
                                     std::to_string(ready) +
                                     " of them ready; the others come or will be free");
  }

  void wait(WaitingCode code, std::string reason) {
    Waiting& out = plan_.waiting.emplace_back();
    out.cls = demand_.view->id;
    out.code = code;
    out.reason = std::move(reason);
    out.is_priced = demand_.price != kNone;
  }

  /// Puts leases on hosts that the gang holds which end before the last of its hosts is free.
  void fill_in(const std::vector<Seat>& seats) {
    Mono begin = Mono::min();
    for (const Seat& seat : seats)
      if (seat.from == From::kBusy)
        begin = std::max(begin, world_.snapshot.hosts[seat.index].lent_until.value_or(Mono::min()));
    for (const Seat& seat : seats)
      if (seat.from == From::kReady) fill_in(seat.index, begin);
  }

 private:
  void hold(const Seat& seat, const std::string& reason) {
    const demand::ClassId cls = demand_.view->id;
    if (seat.from == From::kLater) return;
    if (seat.from == From::kNew) {
      Create& create = plan_.creates.emplace_back();
      create.offering = seat.index;
      create.for_class = cls;
      create.load = {{cls, 1}};
      create.reason = reason;
      return;
    }
    const HostView& host = world_.snapshot.hosts[seat.index];
    world_.used[seat.index] = true;
    if (seat.from == From::kOff)
      plan_.wakes.push_back({host.id, {{cls, 1}}, reason});
    else
      plan_.reservations.push_back({host.id, cls});
    if (seat.from == From::kComing) plan_.covered.push_back({host.id, cls, 1});
  }

  void fill_in(std::uint32_t h, Mono begin) {
    const HostView& host = world_.snapshot.hosts[h];
    for (Demand& other : world_.demand) {
      const model::WorkShape& shape = other.view->shape;
      const Need& need = world_.needs[other.need];
      if (other.left == 0 || !shape.exclusive || shape.lasts <= Duration::zero() ||
          begin <= world_.snapshot.now || shape.lasts > begin - world_.snapshot.now ||
          !need.resources.fits_in(host.free) || !world_.meets(need, host) ||
          world_.affordable(other, host, 1) == 0)
        continue;
      world_.pay(other, host, 1);
      --other.left;
      --other.uncovered;
      ++other.placed;
      plan_.places.push_back({host.id, other.view->id, 1});
      return;
    }
  }

  World& world_;
  Plan& plan_;
  Demand& demand_;
};

/// The pools to which the need may go.
std::vector<bool> pools_of(const World& world, const Need& need) {
  std::vector<bool> out(world.policy.pools.size());
  for (const std::uint32_t o : world.offers)
    if (world.meets(need, o)) out[world.snapshot.offerings[o].pool] = true;
  return out;
}

/// Why not all hosts of the gang are to be had now.
std::pair<WaitingCode, std::string> why_not(const World& world, const Demand& demand,
                                            std::size_t found) {
  const std::string there = std::to_string(found) + " of the " +
                            std::to_string(demand.view->shape.gang.count) +
                            " hosts of its gang are to be had now";
  const Need& need = world.needs[demand.need];
  std::string ceiling, shut;
  for (const std::uint32_t i : world.offers) {
    const Offering& offering = world.snapshot.offerings[i];
    if (!world.meets(need, i) || !need.resources.fits_in(offering.resources)) continue;
    if (shut.empty()) shut = offering.shut;
    if (offering.shut.empty() && ceiling.empty())
      (void)world.budget.creates(offering, demand.view->shape.gang.count, &ceiling);
  }
  if (!ceiling.empty()) return {WaitingCode::kAtCeiling, there + ": " + ceiling};
  if (!shut.empty()) return {WaitingCode::kGateShut, there + ": " + shut};
  return {WaitingCode::kNoOffering, there};
}

/// Gangs in the order of their turns.
std::vector<std::uint32_t> gangs_of(const World& world) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t d = 0; d < world.demand.size(); ++d)
    if (world.demand[d].view->shape.gang.count > 0 && !world.demand[d].view->displaced)
      out.push_back(d);
  std::ranges::stable_sort(out, [&](std::uint32_t a, std::uint32_t b) {
    const Demand &x = world.demand[a], &y = world.demand[b];
    const std::int32_t p = x.view->shape.priority, q = y.view->shape.priority;
    return p != q ? p > q : x.turn(0) < y.turn(0);
  });
  return out;
}

/// `taken`: by pool, a gang before has its turn there.
void gather_one(World& world, Plan& plan, Demand& demand, std::vector<bool>& taken) {
  GangPlan out(world, plan, demand);
  const demand::ClassView& view = *demand.view;
  if (view.count != view.shape.gang.count)
    return out.wait(WaitingCode::kQuota, "limits of its user, or an admin, hold back " +
                                             std::to_string(view.shape.gang.count - view.count) +
                                             " leases of its gang");
  if (!may_gather(view, world.snapshot.now))
    return out.wait(
        WaitingCode::kNoOffering,
        "its gang let its hosts go, as not all were to be had, and tries again after a pause");
  const std::vector<bool> pools = pools_of(world, world.needs[demand.need]);
  bool is_next = true;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    is_next = is_next && !(pools[p] && taken[p]);
    taken[p] = taken[p] || pools[p];
  }
  if (!is_next)
    return out.wait(WaitingCode::kNoOffering, "the turn of another gang of its pool is before it");
  Gatherer gatherer(world, plan, demand);
  if (!gatherer.find()) {
    auto [code, reason] = why_not(world, demand, gatherer.most());
    return out.wait(code, std::move(reason));
  }
  const auto& seats = gatherer.seats();
  if (std::ranges::all_of(seats, [](const Seat& one) { return one.from == From::kReady; }))
    return out.begin(seats);
  out.hold(seats);
  out.fill_in(seats);
}

}  // namespace

void gather(World& world, Plan& plan) {
  const std::vector<std::uint32_t> gangs = gangs_of(world);
  if (gangs.empty()) return;
  std::vector<bool> taken(world.policy.pools.size());
  for (const std::uint32_t d : gangs) gather_one(world, plan, world.demand[d], taken);
}

}  // namespace hostler::scheduler
