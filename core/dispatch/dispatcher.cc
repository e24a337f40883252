#include "core/dispatch/dispatcher.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/assert.h"
#include "core/dispatch/handlers/handlers.h"
#include "core/dispatch/handlers/questions/currency.h"
#include "core/dispatch/state/state.h"

namespace hostler::dispatch {
namespace {

/// Thousands may be due at once: other events wait meanwhile.
constexpr std::size_t kDeadlinesPerTick = 500;

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

}  // namespace

Result<void> check_homes(const model::Restored& restored, const model::SitePolicy& policy) {
  const auto has = [](const auto& named, const std::string& name) {
    return std::ranges::any_of(named, [&](const auto& one) { return one.name == name; });
  };
  for (const auto& [record, create, used_up] : restored.instances) {
    const bool no_set = !has(policy.sets, record.set);
    const bool is_remembered = record.state == model::InstanceState::kAbandoned ||
                               record.state == model::InstanceState::kVanished;
    if (is_remembered && (no_set || !policy.pools.empty())) continue;
    if (!no_set && has(policy.pools, record.pool)) continue;
    return fail(Errc::kConflict,
                "the configuration has no " +
                    (no_set ? "instance set '" + record.set : "pool '" + record.pool) +
                    "', and the journal has instances of it, " + record.id.text() + " (" +
                    (record.provider_id.empty() ? "still asked for" : record.provider_id) +
                    ") for one: put it back, end them (hostler drain, hostler kill), and remove it "
                    "when they are gone");
  }
  return {};
}

Dispatcher::Dispatcher(model::SitePolicy policy, CreateSecretsFactory make_secrets, Options options)
    : options_(std::make_unique<const Options>(std::move(options))),
      state_(std::make_unique<State>(std::move(policy), options_->seed)),
      handlers_(std::make_unique<Handlers>(*state_, std::move(make_secrets), *options_)) {}

Dispatcher::~Dispatcher() = default;
Dispatcher::Dispatcher(Dispatcher&&) noexcept = default;
Dispatcher& Dispatcher::operator=(Dispatcher&&) noexcept = default;

Outbox Dispatcher::restore(model::Restored restored, Now now) {
  handlers_->types.restore(restored, now);
  const auto pushers = std::move(restored.pushers);
  state_->has_orphans = handlers_->restore.apply(std::move(restored), now);
  handlers_->types.restored();
  handlers_->leases.policy_changed(now);
  handlers_->broken_gangs.restored();
  handlers_->bounds.policy_changed(now);
  handlers_->pushes.restore(pushers, now);
  // The policy may have changed meanwhile, and hosts take work before the first plan.
  (void)handlers_->closing.close_hosts(now);
  choose_questions(now);
  return take_outbox();
}

Outbox Dispatcher::apply(Event event, Now now) {
  if (state_->is_old) return {};
  Handlers& to = *handlers_;
  to_site_currency(event, *state_);
  std::visit(Overloaded{
                 [&](const DriverLoaded& e) { to.admin.on(e, now); },
                 [&](SetOpened& e) {
                   to.sets.on(e, now);
                   to.bounds.sets_changed(now);
                 },
                 [&](SuccessorOpened& e) {
                   to.sets.on(e, now);
                   to.bounds.sets_changed(now);
                   to.leftovers.on(e);
                   if (e.result) ask_again(e.set, now);
                   to.watches.on(e, now);
                 },
                 [&](const CredentialsRenewed& e) { to.sets.on(e, now); },
                 [&](const PricesFetched& e) { to.prices.on(e, now); },
                 [&](const QuotaGroupFetched& e) { to.quota_groups.on(e, now); },
                 [&](const ImagesFetched& e) { to.images.on(e, now); },
                 [&](const OfferingsFetched& e) {
                   if (!to.offerings.on(e, to.types.in_use(), now)) return;
                   to.types.refresh(now);
                   to.prices.reprice(e.set, now);
                 },
                 [&](const LeftoversListed& e) { to.leftovers.on(e, now); },
                 [&](const LeftoverDestroyed& e) { to.leftover_destroys.on(e, now); },
                 [&](const NoticesSeen& e) { to.watches.on(e, now); },
                 [&](const WatchEnded& e) { to.watches.on(e, now); },
                 [&](SetListed& e) {
                   if (!to.epochs.compare(e, now)) return;
                   to.lists.on(e, now);
                   to.hosts.judge_left_alone(now);
                   to.leftovers.on(e, now);
                 },
                 [&](const InstancesLookedUp& e) { to.absences.on(e, now); },
                 [&](const BelieveList& e) { to.adoptions.on(e, now); },
                 [&](const GiveUpUnreachable& e) { to.reachability.on(e, now); },
                 [&](const CreateSeen& e) { to.answers.on(e, now); },
                 [&](const CreateEnded& e) { to.answers.on(e, now); },
                 [&](const DestroyEnded& e) { to.answers.on(e, now); },
                 [&](const TagsEnded& e) { to.answers.on(e, now); },
                 [&](const PowerEnded& e) { to.answers.on(e, now); },
                 [&](const ConsoleRead& e) { to.consoles.on(e, now); },
                 [&](const model::HostEvent& e) { to.hosts.on(e, now); },
                 [&](Submit& e) { to.work.on(e, now); },
                 [&](SubmitLease& e) { to.lease_requests.on(e, now); },
                 [&](const ReturnLease& e) { to.lease_requests.on(e, now); },
                 [&](const RenewLease& e) { to.lease_requests.on(e, now); },
                 [&](const CancelWork& e) {
                   if (e.work.kind == model::WorkKind::kLease) return to.lease_requests.on(e, now);
                   to.work.on(e, now);
                 },
                 [&](const ReleaseWork& e) { to.work.on(e, now); },
                 [&](const CancelHeld& e) { to.work.on(e, now); },
                 [&](const OutputsRemoved& e) { to.work.on(e, now); },
                 [&](const GiveUpOutput& e) { to.outputs.on(e, now); },
                 [&](const WorkForgotten& e) { to.work.on(e); },
                 [&](const SetIdleBehavior& e) { to.admin.on(e, now); },
                 [&](const KillInstance& e) { to.admin.on(e, now); },
                 [&](PushReceived& e) { to.pushes.on(e, now); },
                 [&](const ReportReady& e) { to.admin.on(e, now); },
                 [&](const AcceptAccount& e) {
                   if (!to.sets.on(e, now)) return;
                   to.bounds.sets_changed(now);
                   to.leftovers.on(e);
                   ask_again(e.set, now);
                   to.watches.on(e, now);
                 },
                 [&](const OpenGate& e) { to.admin.on(e, now); },
                 [&](PolicyChanged& e) { replace_policy(std::move(e.policy), now); },
                 [&](PlanMade& e) { to.plans.on(e, now); },
                 [&](const DiskChanged& e) { to.disk.on(e, now); },
                 [&](const JumpHostChanged& e) { to.reachability.on(e, now); },
                 [&](const MetricsRead& e) { to.bounds.on(e, now); },
                 [&](const ZonesRead& e) { to.bounds.on(e, now); },
                 [&](const PastRead& e) { to.bounds.on(e, now); },
                 [&](const DrainEnded& e) { to.drains.on(e, now); },
             },
             event);
  to.leases.end_commands(now);
  to.leases.end_unlent(now);
  to.broken_gangs.mend(now);
  return take_outbox();
}

void Dispatcher::replace_policy(model::SitePolicy policy, Now now) {
  HOSTLER_ASSERT(policy.sets.size() == state_->policy.sets.size() &&
                     policy.pools.size() >= state_->policy.pools.size(),
                 "a reload keeps sets and only adds pools: config's diff refuses others");
  state_->configured = std::move(policy);
  handlers_->types.reload(now);
  state_->principals.set_half_life(state_->policy.half_life, now.mono);
  state_->principals.set_quotas(state_->policy.quotas);
  handlers_->admin.renew_menu(now);
  handlers_->bounds.policy_changed(now);
  handlers_->pushes.policy_changed(now);
  handlers_->admin.policy_changed(now);
  handlers_->leases.policy_changed(now);
  handlers_->sets.policy_changed(now);
  choose_questions(now);
}

void Dispatcher::choose_questions(Now now) {
  handlers_->prices.policy_changed(now);
  handlers_->images.policy_changed(now);
  handlers_->offerings.policy_changed(now);
  handlers_->leftovers.policy_changed(now);
}

/// Another driver or account of the set may know what the one before does not.
void Dispatcher::ask_again(const std::string& set, Now now) {
  if (const auto index = state_->sets.index_of(set)) state_->questions.ask_again(*index, now);
}

Outbox Dispatcher::tick(Now now) {
  if (state_->is_old) return {};
  fire_deadlines(now);
  handlers_->interruptions.fire_due(now);
  handlers_->outputs.fire_due(now);
  handlers_->disk.fire_due(now);
  state_->commands.end_due(now);
  handlers_->leases.end_commands(now);
  handlers_->leases.fire_due(now);
  handlers_->leases.end_unlent(now);
  handlers_->broken_gangs.mend(now);
  if (state_->principals.next_use_tick() <= now.mono) journal_uses(now);
  for (std::uint32_t set = 0; set < state_->sets.size(); ++set) {
    handlers_->sets.send_due(set, now);
    handlers_->prices.send_due(set, now);
    handlers_->quota_groups.send_due(set, now);
    handlers_->images.send_due(set, now);
    handlers_->offerings.send_due(set, now);
    handlers_->leftovers.send_due(set, now);
    handlers_->leftover_destroys.send_due(set, now);
    handlers_->watches.send_due(set, now);
    handlers_->lists.go_on(set, now);
    handlers_->adoptions.go_on(set, now);
    handlers_->lists.send_due(set, now);
    handlers_->absences.send_due(set, now);
  }
  handlers_->drains.fire_due(now);
  handlers_->pushes.fire_due(now);
  if (handlers_->bounds.fire_due(now)) handlers_->drains.look(now);
  handlers_->plans.apply_more(now);
  handlers_->plans.refresh_views();  // The plan that is sent below knows of the deadlines.
  handlers_->plans.send_due(now);
  return take_outbox();
}

void Dispatcher::fire_deadlines(Now now) {
  for (std::size_t n = 0; n < kDeadlinesPerTick; ++n) {
    const auto id = state_->hosts.pop_due(now.mono);
    if (!id) return;
    Host* host = state_->hosts.change(*id);
    HOSTLER_ASSERT(host != nullptr, "only known hosts have a deadline");
    if (handlers_->reachability.holds(*host, now)) continue;
    handlers_->instance_steps.due(*host, now);
  }
}

Outbox Dispatcher::stop(Now now) {
  if (state_->is_old) return {};
  journal_uses(now);
  return take_outbox();
}

void Dispatcher::journal_uses(Now now) {
  for (auto& use : state_->principals.use_changes(now)) state_->recorder.change(std::move(use));
}

Outbox Dispatcher::take_outbox() {
  if (state_->is_old) return state_->recorder.take();
  handlers_->plans.refresh_views();
  return state_->recorder.take();
}

Mono Dispatcher::next_wake() const {
  if (state_->is_old) return fleet::kNever;
  return std::min({state_->hosts.next_deadline(), state_->commands.next_deadline(),
                   state_->sets.next_wake(), state_->questions.next_wake(),
                   state_->prices.next_wake(), state_->leftovers.next_wake(state_->sets),
                   state_->watches.next_wake(state_->sets), state_->plan.next_wake(),
                   state_->principals.next_use_tick(), state_->leases.next_due(),
                   state_->decisions.next(), state_->pushes.next_silence(state_->policy)});
}

}  // namespace hostler::dispatch
