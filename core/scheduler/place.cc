#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/assert.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/reserve.h"
#include "core/scheduler/room.h"
#include "core/scheduler/steps.h"

/// Waiting items on ready hosts, and on hosts that come; room for those that will wait.
namespace hostler::scheduler {
namespace {

/// Items that a host was made for.
struct Own {
  std::uint32_t demand = 0, host = 0;
  std::uint32_t count = 0;
};

/// Hands out room: by priority, then by turns. A demand that fits nowhere does not hold up the next
/// one. `left` is the counter of the demand that goes down; `put` is called for each run of items
/// with their demand, host and number.
template <class Put>
class Filler {
 public:
  Filler(World& world, Room& room, std::uint64_t Demand::*left, Put& put)
      : world_(world), room_(room), left_(left), put_(put) {}

  /// Before fill(): of each priority, these items go first to the host that was made for them.
  void put_first(std::vector<Own> own) {
    own_ = std::move(own);
    std::ranges::stable_sort(own_, {}, &Own::demand);
  }

  void fill() {
    const auto& demand = world_.demand;
    for (std::uint32_t from = 0, to = 0; from < demand.size(); from = to) {
      const std::int32_t priority = demand[from].view->shape.priority;
      while (to < demand.size() && demand[to].view->shape.priority == priority) ++to;
      for (; own_done_ < own_.size() && own_[own_done_].demand < to; ++own_done_)
        put_own(own_[own_done_]);
      if (to - from == 1)
        put_all(from);
      else
        take_turns(from, to);
    }
  }

 private:
  void put_own(const Own& own) {
    Demand& demand = world_.demand[own.demand];
    const HostView& host = world_.snapshot.hosts[own.host];
    const std::uint64_t wanted =
        world_.affordable(demand, host, std::min<std::uint64_t>(own.count, demand.*left_));
    if (wanted == 0 || !world_.meets(world_.needs[demand.need], host)) return;
    const std::uint64_t taken = room_.take(own.host, demand.need, wanted);
    if (taken == 0) return;
    world_.pay(demand, host, taken);
    demand.*left_ -= taken;
    put_(own.demand, own.host, taken);
  }

  struct Next {
    demand::Turn turn;
    std::uint32_t demand = 0;
    bool operator>(const Next& other) const {
      return other.turn < turn || (!(turn < other.turn) && demand > other.demand);
    }
  };

  /// The demands of one priority.
  void take_turns(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t d = from; d < to; ++d) wait(d);
    while (!waiting_.empty()) {
      const std::uint32_t d = waiting_.top().demand;
      waiting_.pop();
      if (waiting_.empty()) return put_all(d);
      const Demand& demand = world_.demand[d];
      const std::uint32_t host = find(demand);
      if (host == kNone) continue;
      const std::uint64_t first = demand.view->count - demand.*left_;
      std::uint64_t run = 1;
      while (run < demand.*left_ && demand.turn(first + run) < waiting_.top().turn) ++run;
      put_run(d, host, run);
      wait(d);
    }
  }
  void wait(std::uint32_t d) {
    const Demand& demand = world_.demand[d];
    if (demand.*left_ > 0) waiting_.push({demand.turn(demand.view->count - demand.*left_), d});
  }
  /// No other demand takes turns with it.
  void put_all(std::uint32_t d) {
    const Demand& demand = world_.demand[d];
    while (demand.*left_ > 0) {
      const std::uint32_t host = find(demand);
      if (host == kNone) return;
      put_run(d, host, demand.*left_);
    }
  }
  [[nodiscard]] std::uint32_t find(const Demand& demand) {
    return demand.price == kNone ? room_.find(demand.need) : room_.find_affordable(demand);
  }
  void put_run(std::uint32_t d, std::uint32_t host, std::uint64_t run) {
    Demand& demand = world_.demand[d];
    const HostView& on = world_.snapshot.hosts[host];
    const std::uint64_t taken = room_.take(host, demand.need, world_.affordable(demand, on, run));
    world_.pay(demand, on, taken);
    HOSTLER_ASSERT(taken > 0, "a host that was found has room for an item");
    demand.*left_ -= taken;
    put_(d, host, taken);
  }

  World& world_;
  Room& room_;
  std::uint64_t Demand::*const left_;
  Put& put_;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> waiting_;
  std::vector<Own> own_;
  std::size_t own_done_ = 0;
};

/// By resource, the least that any item needs.
model::Resources least_need(const World& world) {
  model::Resources out{INT32_MAX, INT32_MAX, INT64_MAX, INT64_MAX, INT32_MAX};
  for (const Need& need : world.needs) {
    out.vcpus = std::min(out.vcpus, need.resources.vcpus);
    out.gpus = std::min(out.gpus, need.resources.gpus);
    out.ram = std::min(out.ram, need.resources.ram);
    out.scratch = std::min(out.scratch, need.resources.scratch);
    out.slots = std::min(out.slots, need.resources.slots);
  }
  return out;
}

/// Adds placements to the plan, one for each run of items of a class on a host.
class Placements {
 public:
  Placements(World& world, Plan& plan)
      : world_(world), plan_(plan), last_(world.demand.size(), kNone) {}

  void operator()(std::uint32_t d, std::uint32_t host, std::uint64_t count) {
    const model::InstanceId id = world_.snapshot.hosts[host].id;
    world_.used[host] = true;
    world_.demand[d].placed += count;
    std::uint32_t& last = last_[d];
    // Which cards are left depends on the order of items, if they are of several kinds.
    const bool has_order = !world_.snapshot.hosts[host].cards.empty();
    if (last != kNone && plan_.places[last].host == id &&
        (!has_order || last + 1 == plan_.places.size())) {
      plan_.places[last].count += static_cast<std::uint32_t>(count);
      return;
    }
    last = static_cast<std::uint32_t>(plan_.places.size());
    plan_.places.push_back({id, world_.demand[d].view->id, static_cast<std::uint32_t>(count)});
  }

 private:
  World& world_;
  Plan& plan_;
  std::vector<std::uint32_t> last_;  ///< By demand: its last entry in the plan.
};

/// A ready host with room for at least one item.
struct ReadyHost {
  std::uint32_t host;
  HostRoom room;
};

/// Places the items that hosts are reserved for, if they fit by now. Returns the hosts that have
/// room left, the fullest first, without those that stay reserved.
std::vector<ReadyHost> place_reserved(World& world, std::vector<std::uint32_t>& reserved,
                                      Placements& put) {
  std::vector<ReadyHost> out;
  const model::Resources least = least_need(world);
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = world.snapshot.hosts[h];
    if (host.phase != HostPhase::kReady || !host.takes_work || host.attempts_left <= 0 ||
        host.drain != DrainPhase::kNone || world.closed[h] != Closed::kNo || world.was_held(h))
      continue;
    ReadyHost ready{h, HostRoom::of(host)};
    if (reserved[h] != kNone) {
      Demand& demand = world.demand[reserved[h]];
      const Need& need = world.needs[demand.need];
      if (!ready.room.holds(need)) continue;
      --demand.left;
      world.pay(demand, host, 1);
      put(reserved[h], h, 1);
      reserved[h] = kNone;
      ready.room.take(need, 1);
    }
    if (least.fits_in(ready.room.free)) out.push_back(ready);
  }
  // Of equal vcpus the fuller host first; ids break ties.
  std::stable_sort(out.begin(), out.end(), [](const ReadyHost& a, const ReadyHost& b) {
    const model::Resources &x = a.room.free, &y = b.room.free;
    return std::tie(x.ram, x.scratch, x.slots) < std::tie(y.ram, y.scratch, y.slots);
  });
  return out;
}

/// What new hosts were made for, as far as it waits. Else hosts that come up one by one would get
/// other work than they were bought for, and the rest would need more hosts.
std::vector<Own> own_items(const World& world, const std::vector<ReadyHost>& ready) {
  std::vector<Own> out;
  for (const ReadyHost& one : ready) {
    const HostView& host = world.snapshot.hosts[one.host];
    if (host.busy) continue;
    for (const demand::Load& load : host.load)
      for (const auto& [cls, d] : world.find_all(load.cls))
        if (world.demand[d].left > 0) out.push_back({d, one.host, load.count});
  }
  return out;
}

/// Counts displaced items on room that is left on ready hosts: it is theirs when they wait.
void keep_room(World& world, Room& room) {
  for (Demand& demand : world.demand)
    if (!demand.view->displaced) demand.uncovered = 0;
  const auto keep = [&](std::uint32_t, std::uint32_t host, std::uint64_t) {
    world.used[host] = true;
  };
  Filler(world, room, &Demand::uncovered, keep).fill();
}

/// An idle host whose connection broke may be the replacement that a displaced item is to have, and
/// most connections come back. It is not given back as idle before its probe timeout; until it is
/// back it counts as no room, so that another host is there in time.
void keep_unreachable(World& world) {
  for (const Demand& demand : world.demand) {
    if (!demand.view->displaced) continue;
    const Need& need = world.needs[demand.need];
    std::uint64_t left = demand.uncovered;
    for (const std::uint32_t h : world.hosts) {
      if (left == 0) break;
      const HostView& host = world.snapshot.hosts[h];
      const auto* pool = world.pool(host);
      if (pool == nullptr || host.phase != HostPhase::kReady || host.busy || world.used[h] ||
          host.will_go() || host.attempts_left <= 0 || host.agent != AgentState::kNone ||
          !host.unreachable_since ||
          world.snapshot.now - *host.unreachable_since >= pool->probe_timeout ||
          !world.meets(need, host))
        continue;
      const std::uint64_t fits = HostRoom::of(host).count(need, left);
      if (fits > 0) world.used[h] = true;
      left -= fits;
    }
  }
}

}  // namespace

void place(World& world, Plan& plan) {
  const auto& hosts = world.snapshot.hosts;
  Placements put(world, plan);
  std::vector<std::uint32_t> reserved = reservations(world);
  const std::vector<ReadyHost> with_room = place_reserved(world, reserved, put);
  if (!world.demand.empty() && !with_room.empty()) {
    Room room(world);
    for (const ReadyHost& ready : with_room)
      room.add(ready.host, ready.room, !hosts[ready.host].busy && !world.used[ready.host]);
    Filler filler(world, room, &Demand::left, put);
    filler.put_first(own_items(world, with_room));
    filler.fill();
    keep_room(world, room);
  }
  keep_unreachable(world);
  for (Demand& demand : world.demand)
    if (!demand.view->displaced) demand.uncovered = demand.left;
  reserve_one(world, reserved);
  for (const std::uint32_t h : world.hosts) {
    if (reserved[h] == kNone) continue;
    plan.reservations.push_back({hosts[h].id, world.demand[reserved[h]].view->id});
    world.used[h] = true;
  }
}

void cover(World& world, Plan& plan, bool unseen) {
  const auto& hosts = world.snapshot.hosts;
  std::set<model::InstanceId> held;  // By gangs.
  for (const Reserve& one : plan.reservations)
    if (const std::uint32_t d = world.find(one.cls);
        d != kNone && world.demand[d].view->shape.gang.count > 0)
      held.insert(one.host);
  std::vector<std::uint32_t> coming;
  for (const std::uint32_t h : world.hosts) {
    const HostView& host = hosts[h];
    if (host.phase == HostPhase::kComing && host.unseen == unseen && world.is_alive(h) &&
        !host.kept && !held.contains(host.id))
      coming.push_back(h);
  }
  if (coming.empty() || world.demand.empty()) return;
  // The oldest first, spot requests that are not fulfilled last: the youngest stay unused.
  std::stable_sort(coming.begin(), coming.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(hosts[a].unfulfilled_spot, hosts[a].created) <
           std::tie(hosts[b].unfulfilled_spot, hosts[b].created);
  });
  Room room(world);
  const auto use = [&](std::uint32_t d, std::uint32_t host, std::uint64_t items) {
    world.used[host] = true;
    if (unseen) world.demand[d].on_unseen += items, world.demand[d].unseen = host;
    plan.covered.push_back(
        {hosts[host].id, world.demand[d].view->id, static_cast<std::uint32_t>(items)});
  };
  for (const std::uint32_t h : coming) {
    HostRoom left_on_host = HostRoom::of(hosts[h]);
    for (const demand::Load& load : hosts[h].load) {
      std::uint32_t left = load.count;
      for (const auto& [cls, d] : world.find_all(load.cls)) {
        Demand& demand = world.demand[d];
        const Need& need = world.needs[demand.need];
        if (world.given_up(need, h)) continue;
        const std::uint32_t before = left;
        for (; left > 0 && demand.uncovered > 0 && left_on_host.holds(need) &&
               world.affordable(demand, hosts[h], 1) > 0;
             --left) {
          left_on_host.take(need, 1);
          --demand.uncovered;
          world.pay(demand, hosts[h], 1);
        }
        if (left < before) use(d, h, before - left);
      }
    }
    room.add(h, left_on_host, !world.used[h]);
  }
  Filler(world, room, &Demand::uncovered, use).fill();
}

}  // namespace hostler::scheduler
