#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/scheduler/gang_seats.h"
#include "core/scheduler/steps.h"

/// Gangs: their items get hosts all together. A plan keeps nothing: a gang goes on holding the
/// hosts that the last plan has reserved for it while all of its hosts are still to be had.
namespace hostler::scheduler {
namespace {

using model::WaitingCode;

/// How many gangs a plan examines in vain: this bounds its time. Gangs that hold hosts are examined
/// in any case.
constexpr std::size_t kTriedInVain = 32;

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
    const auto starves = [&](const model::PoolPolicy& pool) {
      return world_.snapshot.now - demand_.view->oldest >= pool.starvation_after;
    };
    if (world_.snapshot.has_limits && std::ranges::any_of(world_.policy.pools, starves))
      out.part_from = model::Micros{};
  }

  /// On hosts that the gang holds, places leases that end before the last of its hosts is free. It
  /// waits for busy hosts only in pools where it starves.
  void fill_in(const std::vector<Seat>& seats) {
    const auto& hosts = world_.snapshot.hosts;
    Mono begin = Mono::min();
    for (const Seat& seat : seats)
      if (seat.from == From::kBusy)
        begin = std::max(begin, hosts[seat.index].lent_until.value_or(Mono::min()));
    for (const Seat& seat : seats)
      if (seat.from == From::kReady && world_.starves(demand_, hosts[seat.index]))
        fill_in(seat.index, begin);
  }

 private:
  void hold(const Seat& seat, const std::string& reason) {
    const demand::ClassId cls = demand_.view->id;
    if (seat.from == From::kLater || seat.from == From::kTheirs) return;
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
      reserve(host.id);
    if (seat.from == From::kComing) plan_.covered.push_back({host.id, cls, 1});
  }

  /// Takes the host from work whose turn comes later, if it was reserved for that.
  void reserve(model::InstanceId host) {
    std::erase_if(plan_.reservations, [&](const Reserve& one) { return one.host == host; });
    plan_.reservations.push_back({host, demand_.view->id});
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

/// The pools that can serve the need.
std::vector<bool> pools_of(const World& world, const Need& need) {
  std::vector<bool> out(world.policy.pools.size());
  for (const std::uint32_t o : world.offers)
    if (world.meets(need, o)) out[world.snapshot.offerings[o].pool] = true;
  return out;
}

/// Why the gang cannot have all its hosts now.
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
    return is_before(world.demand[a], world.demand[b]);
  });
  return out;
}

class Gathering {
 public:
  Gathering(World& world, Plan& plan)
      : world_(world), plan_(plan), taken_(world.policy.pools.size()) {
    for (const HostView& host : world.snapshot.hosts)
      if (host.reserved_for) holders_.insert(*host.reserved_for);
  }

  void deal_with(Demand& demand) {
    GangPlan out(world_, plan_, demand);
    const demand::ClassView& view = *demand.view;
    if (view.count != view.shape.gang.count)
      return out.wait(WaitingCode::kQuota, "limits of its user, or an admin, hold back " +
                                               std::to_string(view.shape.gang.count - view.count) +
                                               " leases of its gang");
    if (!may_gather(view, world_.snapshot.now))
      return out.wait(
          WaitingCode::kPlanning,
          "its gang let its hosts go, as not all were to be had, and tries again after a pause");
    const std::vector<bool> pools = pools_of(world_, world_.needs[demand.need]);
    if (is_taken(pools))
      return out.wait(WaitingCode::kPlanning, "the turn of another gang of its pool is before it");
    if (in_vain_ >= kTriedInVain && !holders_.contains(view.id))
      return out.wait(WaitingCode::kPlanning,
                      "the hosts of " + std::to_string(in_vain_) +
                          " gangs before it are not to be had now, and a plan looks no further");
    GangSeats found(world_, plan_, demand);
    if (!found.find()) {
      ++in_vain_;
      demand.missing = found.missing();
      auto [code, reason] = why_not(world_, demand, found.most());
      return out.wait(code, std::move(reason));
    }
    const auto& seats = found.seats();
    if (std::ranges::all_of(seats, [](const Seat& one) { return one.from == From::kReady; }))
      return out.begin(seats);
    out.hold(seats);
    out.fill_in(seats);
    for (std::size_t p = 0; p < pools.size(); ++p) taken_[p] = taken_[p] || pools[p];
  }

 private:
  [[nodiscard]] bool is_taken(const std::vector<bool>& pools) const {
    for (std::size_t p = 0; p < pools.size(); ++p)
      if (pools[p] && taken_[p]) return true;
    return false;
  }

  World& world_;
  Plan& plan_;
  std::vector<bool> taken_;            ///< By pool: a gang whose turn was first holds hosts there.
  std::set<demand::ClassId> holders_;  ///< The last plan has reserved hosts for these.
  std::size_t in_vain_ = 0;
};

}  // namespace

void gather(World& world, Plan& plan) {
  const std::vector<std::uint32_t> gangs = gangs_of(world);
  if (gangs.empty()) return;
  Gathering gathering(world, plan);
  for (const std::uint32_t d : gangs) gathering.deal_with(world.demand[d]);
}

}  // namespace hostler::scheduler
