#include "core/dispatch/queries/timers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/dispatch/state/state.h"
#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

class Timers {
 public:
  explicit Timers(Now now) : now_(now) {}

  void add(const std::string& of, const Timer& timer, const std::string& about = {}) {
    if (timer.at == fleet::kNever) return;
    const Duration left = std::max(timer.at, now_.mono) - now_.mono;
    all_.push_back({.at = now_.wall + left, .of = of, .what = timer.what, .about = about});
  }
  /// The first one first.
  std::vector<model::TimerView> take() {
    std::ranges::stable_sort(all_, {}, &model::TimerView::at);
    return std::move(all_);
  }

 private:
  const Now now_;
  std::vector<model::TimerView> all_;
};

void add_host(Timers& out, const Host& host, const model::SitePolicy& policy, Mono now) {
  const auto& instance = host.instance;
  const std::string id = host.id().text();
  const bool awaits_console =
      host.console && host.console->under_way && instance.deadline == host.console->until;
  out.add(id,
          {instance.deadline, awaits_console ? "console" : fleet::purpose_of_deadline(instance)});
  out.add(id, {instance.notices.deadline(), "notice"});
  out.add(id, {instance.occupancy.output_due(), "output"});
  out.add(id, {instance.ending.drain.deadline(), "drain"});
  if (instance.record.state != model::InstanceState::kIdle) return;
  // After that only a bound of the pool or an admin keeps it.
  const Mono idle_until = instance.since + policy.pools[instance.pool].idle_timeout;
  if (idle_until > now) out.add(id, {idle_until, "idle_timeout"});
}

void add_set(Timers& out, const State& state, std::uint32_t index) {
  const Set& set = state.sets.at(index);
  const std::string of = "set " + set.name;
  for (const Timer& timer : set.timers()) out.add(of, timer);
  for (const Timer& timer : state.watches.timers(state.sets, index)) out.add(of, timer);
  out.add(of, {state.leftovers.next_wake(state.sets, index), "destroy_leftover"});
  for (const auto& [type, answer] : state.prices.of(index))
    out.add(of, {PriceAnswers::given_up_at(answer), "price_patience"}, type);
  if (set.reach.partition) out.add(of, {set.reach.partition->until, "mass_unreachable_hold"});
}

void add_questions(Timers& out, const State& state) {
  for (const auto& [name, what, next, sent] : state.questions.all())
    out.add("set " + state.sets.at(name.set).name, {next, what}, name.about);
}

void add_gates(Timers& out, const CallGates& gates, Mono now) {
  for (const auto& [key, gate] : gates.all())
    if (gate.until > now && gate.record.cls != model::CloudErrorClass::kPrice)
      out.add("gate " + key, {gate.until, "half_open"});
}

void add_pools(Timers& out, const State& state, Mono now) {
  const auto name = [&](std::size_t pool) { return "pool " + state.policy.pools[pool].name; };
  for (const auto& [pool, ends] : state.rests.ends(now))
    for (const Timer& end : ends) out.add(name(pool), end);
  const auto& bounds = state.bounds.by_pool();
  for (std::size_t pool = 0; pool < bounds.size(); ++pool)
    for (const auto& bound : bounds[pool])
      if (bound.until) out.add(name(pool), {*bound.until, "bound_ends"}, bound.source);
}

/// The word for what is done when the lease is due.
const char* purpose_of(const work::Lease& lease) {
  if (lease.queued) return "wait_max";
  if (lease.state() == model::WorkState::kStarting) return "open_account";
  if (lease.state() == model::WorkState::kRunning) return "term";
  return lease.has_account() ? "close_account" : "give_up_cleaning";
}

void add_leases(Timers& out, const Leases& leases) {
  for (const auto& [at, id] : leases.by_time()) {
    const work::Lease& lease = *leases.find(id);
    out.add(id.text(), {lease.due, purpose_of(lease)});
    out.add(id.text(), {lease.notice, "notice"});
  }
}

}  // namespace

std::vector<model::TimerView> timers_of(const State& state, Now now) {
  if (state.is_old) return {};
  Timers out(now);
  for (const auto& [id, host] : state.hosts.all()) add_host(out, host, state.policy, now.mono);
  for (const auto& command : state.commands.awaited())
    out.add(command.on.text(), {command.until, "command"}, command.purpose);
  for (std::uint32_t set = 0; set < state.sets.size(); ++set) add_set(out, state, set);
  add_questions(out, state);
  add_gates(out, state.gates, now.mono);
  add_pools(out, state, now.mono);
  add_leases(out, state.leases);
  out.add("site", {state.plan.next_wake(), "plan"});
  out.add("site", {state.decisions.look_at(), "bounds"});
  for (const auto& [metric, at] : state.decisions.counts())
    out.add("site", {at, "count_metric"}, metric);
  out.add("site", {state.principals.next_use_tick(), "journal_uses"});
  return out.take();
}

}  // namespace hostler::dispatch
