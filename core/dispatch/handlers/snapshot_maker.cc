#include "core/dispatch/handlers/snapshot_maker.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <map>
#include <utility>

#include "core/demand/turns.h"
#include "core/dispatch/state/host_metrics.h"
#include "core/scheduler/lifetime.h"
#include "core/scheduler/patience.h"

namespace hostler::dispatch {

using scheduler::HostPhase;

namespace {

/// While work waits, a plan looks at it again.
constexpr Duration kReviewInterval = std::chrono::seconds(10);

/// When an outside scheduler's host may go: a time that is just reached is not over yet.
std::vector<Mono> ends_of_agent(const scheduler::HostView& host, const model::PoolPolicy& pool) {
  std::vector<Mono> out;
  if (host.agent == scheduler::AgentState::kNone || !pool.pushed) return out;
  const auto& pushed = *pool.pushed;
  constexpr Duration kJustOver{1};
  for (const Duration after : {pool.idle_timeout, pushed.shrink_after, pushed.disconnected})
    out.push_back(host.agent_since + after + kJustOver);
  if (pushed.lifetime_max > Duration::zero())
    out.push_back(host.created + pushed.lifetime_max + kJustOver);
  return out;
}

}  // namespace

SnapshotMaker::Made SnapshotMaker::make(Now now) const {
  auto out = std::make_shared<scheduler::Snapshot>();
  out->now = now.mono;
  Mono wake = std::min(add_offerings(*out, now), add_hosts(*out, now));
  out->classes =
      demand::views_by_turns(waiting_.queue(), principals_.shares().turn_cost(), limits_.caps());
  wake = std::min(wake, add_gangs(*out, now));
  add_displaced(*out, now);
  out->has_limits = waiting_.queue().has_limits();
  if (!out->classes.empty()) wake = std::min(wake, now.mono + kReviewInterval);
  wake = std::min(wake, scheduler::next_patience_end(*out, policy_));
  add_headroom(*out, now);
  out->set_aside = set_aside_.count_pools(policy_);
  out->rests = of_pools_.rests.at(now.mono);
  wake = std::min(wake, of_pools_.rests.next(now.mono));
  out->bounds = of_pools_.bounds.by_pool();
  wake = std::min(wake, of_pools_.bounds.next_end());
  if (const auto next = governor_.next_create(now.mono)) wake = std::min(wake, *next);
  return {std::move(out), wake};
}

Mono SnapshotMaker::add_gangs(scheduler::Snapshot& out, Now now) const {
  Mono wake = fleet::kNever;
  bool any = false;
  for (auto& view : out.classes) {
    if (view.shape.gang.count == 0) continue;
    any = true;
    view.not_before = work_.gangs.not_before(view.id);
    if (view.not_before > now.mono) wake = std::min(wake, view.not_before);
  }
  if (!any) return wake;
  for (auto& seen : out.hosts)
    if (seen.busy) seen.lent_until = lent_until(*hosts_.find(seen.id), now);
  return wake;
}

std::optional<Mono> SnapshotMaker::lent_until(const Host& host, Now now) const {
  for (const auto& claim : host.instance.occupancy.claims()) {
    const work::Lease* lease = work_.leases.find(claim.work);
    if (lease == nullptr) continue;
    if (lease->state() == model::WorkState::kRunning && lease->due != Mono::max())
      return lease->due;
    const bool ends = lease->state() == model::WorkState::kCollecting;
    return ends ? now.mono : now.mono + lease->terms.term;
  }
  return std::nullopt;
}

/// What only a doubted list shows counts for ceilings, so that nothing more is bought; no host that
/// there is ends for it, as one would if it passed a ceiling of price.
void SnapshotMaker::add_headroom(scheduler::Snapshot& out, Now now) const {
  const bool is_doubted =
      std::ranges::any_of(sets_.all(), [](const Set& set) { return set.strangers.is_doubted(); });
  const auto shown = [&](gates::Headroom room) {
    if (is_doubted && room.price_per_hour)
      room.price_per_hour->value = std::max<std::int64_t>(0, room.price_per_hour->value);
    return room;
  };
  out.site = shown(governor_.site(now.mono));
  for (std::uint32_t i = 0; i < policy_.sets.size(); ++i)
    out.sets.push_back(shown(governor_.set(i, now.mono)));
  for (std::uint32_t i = 0; i < policy_.pools.size(); ++i)
    out.pools.push_back(shown(governor_.pool(i, now.mono)));
}

void SnapshotMaker::add_displaced(scheduler::Snapshot& out, Now now) const {
  Displaced displaced;
  for (const auto& seen : out.hosts) {
    if (!seen.cordoned || !seen.busy) continue;
    for (const auto& placed : hosts_.find(seen.id)->instance.occupancy.attempts()) {
      const work::Job* job = placed.collecting ? nullptr : work_.jobs.find(placed.attempt.work);
      if (job == nullptr || job->attempt() != placed.attempt || !work::survives_interruption(*job))
        continue;
      Part& part = displaced[job->cls][job->principal];
      ++part.items;
      part.held.value += job->held_per_hour.value;
    }
  }
  auto& classes = out.classes;
  const auto waiting = static_cast<std::ptrdiff_t>(classes.size());
  add_views(displaced, classes);
  add_tasks(classes, now);
  if (std::ssize(classes) == waiting) return;
  const auto by_priority = [](const demand::ClassView& a, const demand::ClassView& b) {
    return a.shape.priority > b.shape.priority;
  };
  std::stable_sort(classes.begin() + waiting, classes.end(), by_priority);
  std::inplace_merge(classes.begin(), classes.begin() + waiting, classes.end(), by_priority);
}

/// Of pushes that are not too old.
void SnapshotMaker::add_tasks(std::vector<demand::ClassView>& out, Now now) const {
  for (const auto& [index, pool] : of_pools_.pushes.all()) {
    const auto& policy = policy_.pools[index].pushed;
    if (!policy || !pool.is_fresh(*policy, now.mono)) continue;
    for (std::size_t i = 0; i < pool.classes.size(); ++i) {
      const auto& klass = waiting_.queue().at(pool.classes[i]);
      out.push_back({.id = pool.classes[i],
                     .kind = klass.kind,
                     .shape = klass.shape,
                     .count = pool.demand.classes[i].count,
                     .displaced = true});
    }
  }
}

void SnapshotMaker::add_views(const Displaced& displaced,
                              std::vector<demand::ClassView>& out) const {
  std::map<demand::PrincipalId, std::uint64_t> totals;
  for (const auto& [cls, parts] : displaced)
    for (const auto& [principal, part] : parts) totals[principal] += part.items;
  for (const auto& [cls, parts] : displaced) {
    std::uint64_t count = 0, priced = 0;
    std::vector<demand::PriceBound::Share> shares;
    for (const auto& [principal, part] : parts) {
      const auto& limit = waiting_.queue().allowance(principal).price_per_hour;
      (limit ? priced : count) += part.items;
      if (!limit) continue;
      // What is left of the limit is for what waits, if there is any.
      const bool waits = waiting_.queue().count(principal) > 0;
      const std::int64_t rest = waits ? std::min<std::int64_t>(0, limit->value) : limit->value;
      const double its = static_cast<double>(part.items) / static_cast<double>(totals[principal]);
      const auto more = static_cast<std::int64_t>(static_cast<double>(rest) * its);
      const model::Micros left{std::max<std::int64_t>(0, part.held.value + more)};
      shares.push_back({.left = demand::PriceBound::only_price(left), .items = part.items});
    }
    const auto& klass = waiting_.queue().at(cls);
    demand::ClassView view{
        .id = cls, .kind = klass.kind, .shape = klass.shape, .count = count, .displaced = true};
    if (count > 0) out.push_back(view);
    if (priced == 0) continue;
    view.count = priced;
    view.price.emplace(std::move(shares));
    out.push_back(std::move(view));
  }
}

Mono SnapshotMaker::add_hosts(scheduler::Snapshot& out, Now now) const {
  Mono wake = fleet::kNever;
  // Ignore expired deadlines: a plan already ran for them.
  const auto wake_at = [&](Mono when) {
    if (when > now.mono) wake = std::min(wake, when);
  };
  // Debug builds only: it is as much work as the snapshot again.
  assert(std::ranges::equal(hosts_.views(), hosts_.all(), {}, {},
                            [&](const auto& entry) { return viewer_.view(entry.second); }));
  out.hosts = hosts_.views();
  for (auto& seen : out.hosts) {
    const auto& pool = policy_.pools[seen.pool];
    of_pools_.pushes.add_to(seen);
    if (seen.phase == HostPhase::kReady && !seen.busy) wake_at(seen.since + pool.idle_timeout);
    for (const Mono when : ends_of_agent(seen, pool)) wake_at(when);
    if (seen.unreachable_since) wake_at(*seen.unreachable_since + pool.probe_timeout);
    if (pool.scaling.lifetime_min > Duration::zero()) wake_at(scheduler::end_of_youth(seen, pool));
    if (!pool.scaling.rank.empty())
      seen.rank = rank_of(hosts_.find(seen.id)->instance.record, pool, of_pools_.metrics, now);
    if (!seen.can_wake) continue;
    const auto query = gates_.query(*hosts_.find(seen.id), model::CloudOp::kStart);
    const auto* gate = gates_.shut(query, now.mono);
    if (gate == nullptr) continue;
    seen.can_wake = false;
    wake_at(gate->until);
  }
  return wake;
}

Mono SnapshotMaker::add_offerings(scheduler::Snapshot& out, Now now) const {
  Mono wake = fleet::kNever;
  out.offerings = menu_.offerings();
  for (auto& offering : out.offerings) {
    const auto& type = policy_.types[offering.type].name;
    auto& scratch = offering.resources.scratch;
    const auto configured = scratch;
    scratch = menu_.scratch().expected(offering.set, type, configured);
    if (scratch < configured)
      offering.note +=
          (offering.note.empty() ? "" : "; of scratch: ") + std::string("what its hosts report");
    offering.can_stop = viewer_.can_stop(offering.set, type, offering.market);
    offering.unavailable = refusals_.is_unavailable(offering);
    auto refusal = refusals_.refuses(offering, now);
    if (!refusal) continue;
    offering.shut = std::move(refusal->text);
    offering.awaits_price = refusal->awaits_price;
    if (refusal->gate == nullptr) continue;
    offering.at_quota = refusal->gate->record.cls == model::CloudErrorClass::kQuota;
    if (refusal->gate->until > now.mono) wake = std::min(wake, refusal->gate->until);
  }
  add_quota_groups(out);
  return wake;
}

void SnapshotMaker::add_quota_groups(scheduler::Snapshot& out) const {
  if (std::ranges::none_of(out.offerings, &scheduler::Offering::at_quota)) return;
  for (auto& offering : out.offerings)
    offering.quota_group = sets_.quota_group(offering.set, policy_.types[offering.type]);
}

}  // namespace hostler::dispatch
