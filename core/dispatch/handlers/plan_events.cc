#include "core/dispatch/handlers/plan_events.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/scheduler/agents.h"
#include "core/scheduler/shutdown_rule.h"

namespace hostler::dispatch {

using model::InstanceState;

namespace {

/// Starts of one turn of the loop: other events wait meanwhile.
constexpr std::uint32_t kItemsPerSlice = 2000;

}  // namespace

void PlanEvents::send_due(Now now) {
  if (!plan_.is_due(now.mono)) return;
  drop_cancelled();
  bounds_.expire(now.mono);
  work_.gangs.look(hosts_.views(), now);
  auto [snapshot, wake] = snapshots_.make(now);
  const std::uint64_t number = plan_.begin(now.mono, wake);
  recorder_.effect(MakePlan{number, std::move(snapshot), plan_.policy()});
}

void PlanEvents::drop_cancelled() {
  auto cancelled = work_.waiting.take_cancelled();
  if (cancelled.empty()) return;
  for (auto at = hosts_.all().rbegin(); at != hosts_.all().rend(); ++at) {
    const auto& [id, known] = *at;
    const auto is_cancelled = [&](const auto& load) { return cancelled[load.cls] > 0; };
    const auto state = known.instance.record.state;
    if ((state != InstanceState::kRequested && state != InstanceState::kBooting) ||
        std::ranges::none_of(known.made_for.load(), is_cancelled))
      continue;
    hosts_.change(id)->made_for.cancel(cancelled);
  }
  refresh_views();
}

void PlanEvents::refresh_views() {
  if (hosts_.refresh_views(viewer_)) plan_.want();
}

void PlanEvents::on(PlanMade& event, Now now) {
  if (!plan_.is_under_way(event.number) || (applied_ && applied_->made.number == event.number))
    return;
  applied_ = {std::move(event), 0};
  governor_.begin_decision();
  hosts_.close(applied_->made.plan.closed);
  apply_more(now);
}

void PlanEvents::apply_more(Now now) {
  if (!applied_) return;
  if (!plan_.is_under_way(applied_->made.number)) return applied_.reset();
  if (!place_some(now)) return plan_.apply_more();
  PlanMade made = std::exchange(applied_, std::nullopt)->made;
  plan_.end();
  apply_rest(made.plan, now);
  // Creates that a rate ceiling has refused may pass then.
  if (const auto next = governor_.next_create(now.mono)) plan_.wake_at(*next);
  // The changes of a plan are no reason for another one, and changes since its snapshot have asked
  // for one. Hosts that go are an exception: a ceiling bounds those of one decision, and the rest
  // are left to the next.
  const bool wanted =
      plan_.is_wanted() || !made.plan.shutdowns.empty() || !made.plan.drains.empty();
  refresh_views();
  const bool has_let_go = work_.gangs.note_held(made.plan.waiting, hosts_.views(), now);
  work_.gangs.add_pauses(made.plan.waiting, now);
  plan_.explain(std::move(made.plan.waiting), std::move(made.plan.rejected));
  plan_.forget_gone(work_.waiting.queue());
  plan_.set_wanted(wanted || has_let_go);
}

bool PlanEvents::place_some(Now now) {
  auto& [made, placed] = *applied_;
  const auto& places = made.plan.places;
  for (std::uint32_t items = 0; placed < places.size() && items < kItemsPerSlice; ++placed) {
    items += places[placed].count;
    if (work_.waiting.is_gang(places[placed].cls))
      placed = place_gang(places, placed, now);
    else
      apply(places[placed], now);
  }
  if (placed == places.size()) return true;
  const bool wanted = plan_.is_wanted();
  refresh_views();
  plan_.set_wanted(wanted);
  return false;
}

void PlanEvents::apply_rest(scheduler::Plan& plan, Now now) {
  actions_.pushes.planned(plan, now);
  for (const auto& one : plan.shutdowns) apply(one, now);
  for (const auto& one : plan.drains) actions_.drains.apply(one, now);
  hosts_.clear_reservations();
  for (const auto& one : plan.reservations) hosts_.reserve(one.host, one.cls);
  for (auto& one : plan.wakes) {
    if (!one.load.empty() && work_.waiting.is_gang(one.load.front().cls))
      hosts_.reserve(one.host, one.load.front().cls);
    actions_.power.apply(std::move(one), now);
  }
  actions_.power.apply(plan.switch_offs, now);  // After the wakes, which make room for them.
  for (const auto& one : plan.creates) actions_.creates.apply(one, now);
}

std::size_t PlanEvents::place_gang(const std::vector<scheduler::Place>& places, std::size_t first,
                                   Now now) {
  std::vector<Host*> hosts;
  std::size_t last = first;
  for (std::size_t at = first; at < places.size() && places[at].cls == places[first].cls; ++at) {
    last = at;
    if (Host* host = hosts_.change(places[at].host)) hosts.push_back(host);
  }
  if (!attempts_.place_gang(hosts, places[first].cls, now)) {
    plan_.want();
    return last;
  }
  for (Host* host : hosts) {
    host->made_for.end();
    const auto& pool = policy_.pools[host->instance.pool];
    steps_.apply(*host, fleet::work_changed(host->instance, pool, now), "scheduler", now);
  }
  return last;
}

void PlanEvents::apply(const scheduler::Place& place, Now now) {
  Host* host = hosts_.change(place.host);
  if (host == nullptr) return;
  for (std::uint32_t i = 0; i < place.count; ++i)
    if (!attempts_.place(*host, place.cls, now)) break;
  host->made_for.end();
  const auto& pool = policy_.pools[host->instance.pool];
  steps_.apply(*host, fleet::work_changed(host->instance, pool, now), "scheduler", now);
}

void PlanEvents::apply(const scheduler::Shutdown& shutdown, Now now) {
  Host* host = hosts_.change(shutdown.host);
  if (host == nullptr || !still_holds(shutdown, *host, now)) return;
  auto& instance = host->instance;
  if (!governor_.refuses_destroy(instance.set, instance.pool).empty()) return plan_.want();
  governor_.destroy_decided(instance.set, instance.pool);
  const std::uint32_t pool = instance.pool;
  const auto& policy = policy_.pools[pool];
  if (shutdown.gives_way) rests_.gave_way(pool, now.mono, now.mono + policy.idle_timeout);
  if (shutdown.code == model::Reason::kAbovePriceLimit)
    rests_.above_limit(pool, now.mono, policy.idle_timeout);
  if (shutdown.code == model::Reason::kExchanged) {
    // Where the old host goes first, the new one may never come up.
    const bool is_done = end_exchange(pool);
    if (is_done)
      rests_.exchange(pool, now.mono + policy.idle_timeout);
    else
      rests_.exchange_first(pool, now.mono, rest_of_exchange(policy));
  }
  steps_.apply(*host, fleet::terminate(instance, shutdown.code, shutdown.reason, now), "scheduler",
               now);
}

bool PlanEvents::end_exchange(std::uint32_t pool) {
  std::vector<model::InstanceId> made;
  for (const auto& [id, host] : hosts_.all())
    if (host.instance.pool == pool && host.made_for.is_for_exchange()) made.push_back(id);
  for (const auto id : made) hosts_.change(id)->made_for.end_exchange();
  return !made.empty();
}

bool PlanEvents::still_holds(const scheduler::Shutdown& shutdown, const Host& host, Now now) const {
  // HostView::kept also has a host that is off while its set is closed. A set that has closed since
  // the plan was made does not undo the decision: the destroy waits until it is open.
  if (viewer_.is_kept(host)) return false;
  auto view = viewer_.view(host);
  pushes_.add_to(view);
  if (!view.acknowledged && scheduler::needs_handshake(shutdown.code, view, host.closed))
    return false;
  // A push has come since the plan was made.
  if (host.closed == scheduler::Closed::kAbandoned && !pushes_.is_abandoned(view.pool))
    return false;
  return scheduler::still_true(shutdown.code, view, host.closed, policy_.pools[host.instance.pool],
                               now.mono);
}

}  // namespace hostler::dispatch
