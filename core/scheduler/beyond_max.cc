#include "core/scheduler/beyond_max.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/scheduler/agents.h"
#include "core/scheduler/fit.h"
#include "core/scheduler/leave_order.h"
#include "core/scheduler/lifetime.h"

namespace hostler::scheduler {
namespace {

bool has_no_offering(const HostView& host) { return host.offering == UINT32_MAX; }

/// The hosts of a pool that are beyond its maximum go in this order.
enum class Rank {
  kGoesAnyway,
  kUnneededSpot,  ///< A spot request that is not fulfilled: no rule keeps it.
  kUnneeded,      ///< It boots, and no work waits for it.
  kIdle,
  kLost,  ///< Its outside scheduler has no agent there.
  kComing,
  kWorking,  ///< Or it was adopted: it may run work that is not known yet.
};

bool is_idle(const HostView& host) {
  return host.phase == HostPhase::kReady && !host.busy && !host.adopted;
}

/// A class that waits. `goes_anywhere`: to each host of the pool that it fits.
struct UnservedClass {
  const demand::ClassView* view;
  bool goes_anywhere;
};
using Unserved = std::vector<UnservedClass>;

/// The pool is for such work, and nothing else is asked of the host.
bool goes_anywhere(const demand::ClassView& view, const model::PoolPolicy& pool) {
  auto others = view.shape.constraints;
  others.pools.clear();
  return others == model::Constraints{} &&
         unmet_by_pool(view.kind, view.shape.constraints, pool).empty();
}

/// Cards for an item that wishes for no kind, if their number is enough.
bool has_cards(const HostView& host, std::int32_t count) {
  return host.cards.empty() || model::has_cards(host.cards, {}, count);
}

/// The classes that no idle host of the pool can take.
Unserved left_by_idle_hosts(const std::vector<HostView>& hosts,
                            const std::vector<std::uint32_t>& may_go,
                            const std::vector<demand::ClassView>& classes,
                            const model::PoolPolicy& pool) {
  Unserved out;
  for (const demand::ClassView& view : classes) {
    const bool is_free = goes_anywhere(view, pool);
    const bool is_taken = is_free && std::ranges::any_of(may_go, [&](std::uint32_t h) {
                            return is_idle(hosts[h]) && hosts[h].takes_work &&
                                   view.shape.needs.fits_in(hosts[h].free) &&
                                   has_cards(hosts[h], view.shape.needs.gpus);
                          });
    if (view.count > 0 && !is_taken) out.push_back({&view, is_free});
  }
  return out;
}

/// Some work may wait for the host, which boots. Work with constraints does if it was created for
/// it.
bool is_needed(const HostView& host, const Unserved& waiting) {
  return std::ranges::any_of(waiting, [&](const UnservedClass& one) {
    const bool was_made_for =
        std::ranges::find(host.load, one.view->id, &demand::Load::cls) != host.load.end();
    return was_made_for || (one.goes_anywhere && one.view->shape.needs.fits_in(host.total) &&
                            has_cards(host, one.view->shape.needs.gpus));
  });
}

Rank rank(const HostView& host, const Unserved& waiting) {
  if (host.busy || host.adopted) return Rank::kWorking;
  if (host.phase == HostPhase::kReady) return Rank::kIdle;
  if (is_needed(host, waiting)) return Rank::kComing;
  return host.unfulfilled_spot ? Rank::kUnneededSpot : Rank::kUnneeded;
}

/// The rank of a host that has an agent of an outside scheduler, or will have one.
Rank rank_of_agent(const HostView& host, const model::PoolPolicy& pool, Mono now) {
  if (host.busy || host.adopted || is_awaited(host, pool, now)) return Rank::kWorking;
  if (goes_anyway(host, pool, now) != model::Reason::kNone || is_idle_for_long(host, pool, now))
    return Rank::kGoesAnyway;
  if (host.phase == HostPhase::kComing)
    return host.unfulfilled_spot ? Rank::kUnneededSpot : Rank::kComing;
  return host.agent == AgentState::kLost ? Rank::kLost : Rank::kIdle;
}

struct Pool {
  std::int64_t alive = 0;             ///< Hosts that count for the maximum and go by no other rule.
  std::vector<std::uint32_t> may_go;  ///< Of these, those that are not kept.
};

/// Its place among the hosts that may be closed.
struct Turn {
  Rank rank{};
  bool is_young = false;
  int going = 0;  ///< order_of_going().
  // With an idle agent: the longest idle first, then the dearest.
  Mono idle_since{};
  std::int64_t discount = 0;
  friend auto operator<=>(const Turn&, const Turn&) = default;
};

/// Runs of equal turns, each by load and zone.
void order_by_load(std::vector<std::uint32_t>& may_go, const std::vector<Turn>& turns,
                   const std::vector<HostView>& hosts, const ClosingOrder& order) {
  std::vector<std::uint32_t> alive;
  for (std::uint32_t h = 0; h < hosts.size(); ++h)
    if (hosts[h].pool == hosts[may_go.front()].pool && counts_for_max(hosts[h])) alive.push_back(h);
  const std::vector<Offering> none;
  LeaveOrder leave(hosts, order.offerings != nullptr ? *order.offerings : none, alive);
  for (auto from = may_go.begin(), to = from; from != may_go.end(); from = to) {
    while (to != may_go.end() && turns[*to] == turns[*from]) ++to;
    leave.arrange({from, to});
  }
}

std::string hosts_text(std::int64_t count, const char* one, const char* more) {
  return std::to_string(count) +
         (count == 1 ? std::string(" host ") + one : std::string(" hosts ") + more);
}

}  // namespace

bool counts_for_max(const HostView& host) {
  return host.is_on() && !host.will_go() && (host.kept || !has_no_offering(host));
}

const char* to_string(Closed closed) {
  switch (closed) {
    case Closed::kNo:
      return "";
    case Closed::kBeyondMax:
      return "beyond_max";
    case Closed::kOffMenu:
      return "off_menu";
    case Closed::kAbandoned:
      return "abandoned";
  }
  return "";
}

std::vector<Closed> closed_hosts(const std::vector<HostView>& hosts,
                                 const std::vector<PoolNumbers>& bounds,
                                 const std::vector<std::int64_t>& set_aside,
                                 const std::vector<demand::ClassView>& classes,
                                 const model::SitePolicy& policy, const ClosingOrder& order) {
  std::vector<Closed> out(hosts.size(), Closed::kNo);
  std::vector<Pool> pools(bounds.size());
  for (std::size_t p = 0; p < pools.size(); ++p) pools[p].alive = entry_of(set_aside, p);
  for (std::uint32_t h = 0; h < hosts.size(); ++h) {
    const HostView& host = hosts[h];
    if (host.pool >= pools.size() || host.phase == HostPhase::kLeaving ||
        host.phase == HostPhase::kLingering)
      continue;
    if (has_no_offering(host)) out[h] = Closed::kOffMenu;
    if (counts_for_max(host)) ++pools[host.pool].alive;
  }
  const auto beyond = [&](std::uint32_t p) { return pools[p].alive - bounds[p].started.max.value; };
  const auto is_beyond = [&](std::uint32_t p) { return beyond(p) > 0; };
  bool is_any_beyond = false;
  for (std::uint32_t p = 0; p < pools.size(); ++p) is_any_beyond |= is_beyond(p);
  if (!is_any_beyond) return out;
  for (std::uint32_t h = 0; h < hosts.size(); ++h) {
    const HostView& host = hosts[h];
    if (host.pool < pools.size() && is_beyond(host.pool) && host.is_on() && !host.will_go() &&
        !host.kept && out[h] == Closed::kNo)
      pools[host.pool].may_go.push_back(h);
  }
  for (std::uint32_t p = 0; p < pools.size(); ++p) {
    if (!is_beyond(p)) continue;
    auto& may_go = pools[p].may_go;
    const Unserved waiting = left_by_idle_hosts(hosts, may_go, classes, policy.pools[p]);
    std::vector<Turn> turns(hosts.size());
    for (const std::uint32_t h : may_go) {
      const HostView& host = hosts[h];
      const auto its = host.agent == AgentState::kNone
                           ? rank(host, waiting)
                           : rank_of_agent(host, policy.pools[p], order.now);
      turns[h] = {its, is_young(host, policy.pools[p], order.now), order_of_going(host)};
      if (host.agent != AgentState::kIdle) continue;
      turns[h].idle_since = host.agent_since;
      turns[h].discount = -host.price_per_hour.value;
    }
    std::ranges::sort(may_go, [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(turns[a], hosts[b].created, hosts[b].id) <
             std::tuple(turns[b], hosts[a].created, hosts[a].id);
    });
    if (bounds[p].goes_by_load && !may_go.empty()) order_by_load(may_go, turns, hosts, order);
    const auto count = std::min(static_cast<std::size_t>(beyond(p)), may_go.size());
    const Closed why = bounds[p].is_abandoned ? Closed::kAbandoned : Closed::kBeyondMax;
    for (std::size_t i = 0; i < count; ++i) out[may_go[i]] = why;
  }
  return out;
}

std::string text_of(const std::vector<HostView>& hosts, const std::vector<Closed>& closed,
                    const model::SitePolicy& policy, const std::vector<PoolNumbers>& bounds) {
  struct Counts {
    std::int64_t beyond = 0, idle = 0, off_menu = 0;
  };
  std::vector<Counts> counts(policy.pools.size());
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    if (closed[h] == Closed::kNo) continue;
    Counts& of = counts[hosts[h].pool];
    if (closed[h] == Closed::kOffMenu) ++of.off_menu;
    if (closed[h] == Closed::kOffMenu) continue;
    ++of.beyond;
    if (is_idle(hosts[h])) ++of.idle;
  }
  std::string out;
  for (std::size_t p = 0; p < counts.size(); ++p) {
    const auto [beyond, idle, off_menu] = counts[p];
    if (beyond == 0 && off_menu == 0) continue;
    out += (out.empty() ? "pool " : "; pool ") + policy.pools[p].name + ": ";
    if (beyond > 0)
      out += hosts_text(beyond, "is", "are") + " beyond its maximum of " +
             bounds[p].started.max.text() + " (" + std::to_string(idle) + " idle)";
    if (beyond > 0 && off_menu > 0) out += ", ";
    if (off_menu > 0) out += hosts_text(off_menu, "has", "have") + " a type that left its menu";
  }
  return out;
}

}  // namespace hostler::scheduler
