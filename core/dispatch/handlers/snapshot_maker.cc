#include "core/dispatch/handlers/snapshot_maker.h"

#include <algorithm>
#include <cassert>
#include <chrono>

#include "core/dispatch/handlers/currency.h"
#include "core/scheduler/turns.h"

namespace hostler::dispatch {

using scheduler::HostPhase;

namespace {

/// While work waits, a plan looks at it again.
constexpr Duration kReviewInterval = std::chrono::seconds(10);

}  // namespace

SnapshotMaker::Made SnapshotMaker::make(Now now) const {
  auto out = std::make_shared<scheduler::Snapshot>();
  out->now = now.mono;
  Mono wake = std::min(add_offerings(*out, now), add_hosts(*out, now));
  out->classes =
      scheduler::views_by_turns(jobs_.queue(), jobs_.shares().turn_cost(), limits_.caps());
  out->has_limits = jobs_.queue().has_limits();
  if (!out->classes.empty()) wake = std::min(wake, now.mono + kReviewInterval);
  out->site = governor_.site(now.mono);
  for (std::uint32_t i = 0; i < policy_.sets.size(); ++i)
    out->sets.push_back(governor_.set(i, now.mono));
  for (std::uint32_t i = 0; i < policy_.pools.size(); ++i)
    out->pools.push_back(governor_.pool(i, now.mono));
  out->set_aside = set_aside_.count_pools(policy_);
  if (const auto next = governor_.next_create(now.mono)) wake = std::min(wake, *next);
  return {std::move(out), wake};
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
    if (seen.phase == HostPhase::kReady && !seen.busy) wake_at(seen.since + pool.idle_timeout);
    if (seen.unreachable_since) wake_at(*seen.unreachable_since + pool.probe_timeout);
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
    const Set& set = sets_.at(offering.set);
    const auto& type = policy_.types[offering.type].name;
    auto& scratch = offering.resources.scratch;
    const auto configured = scratch;
    scratch = menu_.scratch().expected(offering.set, type, configured);
    if (scratch < configured) offering.note = "what its hosts report";
    offering.can_stop = viewer_.can_stop(offering.set, type, offering.market);
    offering.shut = set.refuses_creates();
    if (offering.shut.empty()) offering.shut = set.refuses_pool(policy_.pools[offering.pool]);
    if (offering.shut.empty()) offering.shut = set.refuses_market(offering.market);
    if (offering.shut.empty())
      offering.shut = images_.refuses(offering.set, offering.pool, offering.type);
    if (offering.shut.empty())
      offering.shut = refuses_cap(policy_, set, policy_.pools[offering.pool], offering.market);
    offering.unavailable = offered_.is_unavailable(policy_.types[offering.type], offering.zone);
    if (offering.shut.empty() && offering.unavailable)
      offering.shut = "the cloud of set " + set.name + " says that it has none now";
    if (!offering.shut.empty()) continue;
    if (const auto* gate = gates_.shut(gates_.create_query(offering), now.mono)) {
      offering.shut = gate->record.message.empty() ? "a gate is shut" : gate->record.message;
      if (gate->until > now.mono) wake = std::min(wake, gate->until);
    }
  }
  return wake;
}

}  // namespace hostler::dispatch
