#include "core/dispatch/handlers/lease_events.h"

#include <chrono>
#include <utility>

#include "core/base/assert.h"
#include "core/fleet/uses.h"

namespace hostler::dispatch {

using model::WorkState;

namespace {

/// So many leases end in one turn of the loop: other events wait meanwhile.
constexpr std::size_t kEndsPerTick = 500;
/// When a lease is looked at again that cannot end while its set is stopped.
constexpr Duration kSuspended = std::chrono::seconds(10);
constexpr Duration kCleaningLimit = std::chrono::minutes(10);

}  // namespace

void LeaseEvents::on(SubmitLease& event, Now now) {
  const auto refuse = [&](const Error& error) {
    recorder_.reply(event.ticket, tl::unexpected(error));
  };
  if (const auto known = known_lease(event))
    return recorder_.reply(event.ticket, std::vector{*known});
  auto submit = checks_.as_submit(event);
  if (!submit) return refuse(submit.error());
  if (const auto good = checks_.check(*submit, now.mono); !good) return refuse(good.error());
  const auto within = quotas_.check(*submit, now.mono);
  if (!within) return refuse(within.error());
  model::WorkItem& item = submit->work.front();
  quotas_.count_submit(event.principal, now.mono);
  item.principal = event.principal;
  item.submitted = now.wall;
  const model::WorkId id = leases_.add(item, event.lease, now);
  recorder_.change(std::move(item));
  recorder_.change(model::LeaseChanged{event.lease});
  recorder_.record("user", id.text(), model::Event::kSubmitted, "", "by " + event.principal, now);
  plan_.want();
  recorder_.reply(event.ticket, std::vector{id});
}

std::optional<model::WorkId> LeaseEvents::known_lease(const SubmitLease& event) const {
  const model::WorkItem& item = event.work;
  const auto* known = item.client_key.empty()
                          ? nullptr
                          : principals_.client_keys().find(event.principal, item.client_key);
  const bool is_same = known != nullptr && known->digest == item.client_digest &&
                       known->work.kind == model::WorkKind::kLease;
  return is_same ? std::optional(known->work) : std::nullopt;
}

template <class Request>
work::Lease* LeaseEvents::find(const Request& event, model::WorkId id) {
  work::Lease* lease = leases_.find(id);
  if (lease == nullptr)
    recorder_.reply(event.ticket, id.value > waiting_.last_number()
                                      ? fail(Errc::kNotFound, "there is no lease " + id.text())
                                      : fail(Errc::kConflict, id.text() + " has ended"));
  else if (!event.admin && principals_.name(lease->principal) != event.principal)
    recorder_.reply(event.ticket, fail(Errc::kForbidden, id.text() + " is not yours"));
  else if (lease->state() == WorkState::kCollecting)
    recorder_.reply(event.ticket, fail(Errc::kConflict, id.text() + " has ended"));
  else
    return lease;
  return nullptr;
}

bool LeaseEvents::check_granted(const work::Lease& lease, Ticket ticket) {
  if (lease.state() == WorkState::kRunning) return true;
  const std::string id = lease.id().text();
  recorder_.reply(ticket, fail(Errc::kConflict,
                               id + " is not granted yet (hostler cancel " + id + " ends it)"));
  return false;
}

void LeaseEvents::on(const ReturnLease& event, Now now) {
  work::Lease* lease = find(event, event.lease);
  if (lease == nullptr || !check_granted(*lease, event.ticket)) return;
  apply(*lease, work::returned(*lease, event.used, cleans(*lease), now), "user", now);
  recorder_.reply(event.ticket, std::vector{event.lease});
}

void LeaseEvents::on(const RenewLease& event, Now now) {
  work::Lease* lease = find(event, event.lease);
  if (lease == nullptr || !check_granted(*lease, event.ticket)) return;
  const Host* host = hosts_.find(lease->record.instance);
  HOSTLER_ASSERT(host != nullptr, "a lease that is granted has a host");
  if (const auto good = check_term(policy_.pools[host->instance.pool], event.term); !good)
    return recorder_.reply(event.ticket, tl::unexpected(good.error()));
  steps_.apply(*lease, work::renewed(*lease, event.term, now), now);
  recorder_.reply(event.ticket, std::vector{event.lease});
}

void LeaseEvents::on(const CancelWork& event, Now now) {
  work::Lease* lease = find(event, event.work);
  if (lease == nullptr) return;
  if (lease->queued) waiting_.note_cancelled(lease->cls);
  apply(*lease, work::cancel(*lease, event.principal, cleans(*lease), now), "user", now);
  recorder_.reply(event.ticket, std::vector{event.work});
}

void LeaseEvents::fire_due(Now now) {
  for (std::size_t n = 0; n < kEndsPerTick; ++n) {
    const auto id = leases_.first_due(now.mono);
    if (!id) return;
    work::Lease& lease = *leases_.find(*id);
    if (is_suspended(lease)) {
      leases_.set_due(lease, now.mono + kSuspended);
      continue;
    }
    if (lease.queued) waiting_.note_cancelled(lease.cls);
    // One that is ending is due after a restart only: that has forgotten its cleaning command.
    auto outcome = lease.state() == WorkState::kCollecting
                       ? work::cleaned(lease, "its end is not known: the daemon was started", now)
                       : work::due(lease, cleans(lease), now);
    apply(lease, std::move(outcome), "timer", now);
  }
}

void LeaseEvents::end_cleaned(Now now) {
  for (auto ended = commands_.take_cleaned(); !ended.empty(); ended = commands_.take_cleaned())
    for (const auto& [id, problem] : ended) {
      work::Lease* lease = leases_.find(id);
      if (lease != nullptr && lease->state() == WorkState::kCollecting)
        apply(*lease, work::cleaned(*lease, problem, now), "host", now);
    }
}

bool LeaseEvents::cleans(const work::Lease& lease) const {
  const Host* host = lease.has_host() ? hosts_.find(lease.record.instance) : nullptr;
  if (host == nullptr || !host->instance.link.is_connected()) return false;
  const auto& lends = policy_.pools[host->instance.pool].leases;
  return lends && !lends->clean_command.empty();
}

bool LeaseEvents::is_suspended(const work::Lease& lease) const {
  const Host* host = lease.has_host() ? hosts_.find(lease.record.instance) : nullptr;
  if (host == nullptr) return false;
  const Set& set = sets_.at(host->instance.set);
  return set.first_list.rows_end || set.is_stopped();
}

void LeaseEvents::apply(work::Lease& lease, work::LeaseOutcome outcome, const char* actor,
                        Now now) {
  using work::HostAfter;
  const model::WorkId id = lease.id();
  const HostAfter after = outcome.host;
  const bool was_used = lease.record.started.us != 0 && lease.terms.used;
  Host* host = after == HostAfter::kKept ? nullptr : hosts_.change(lease.record.instance);
  steps_.apply(lease, std::move(outcome), now);
  if (host == nullptr) return;
  if (after == HostAfter::kClean) return clean(*host, id, now);
  host->instance.occupancy.remove(id);
  if (!was_used && fleet::uncount_use(host->instance.record))
    recorder_.change(model::InstanceChanged{host->instance.record, nullptr, false});
  if (after == HostAfter::kReady) return attempts_.fill(*host, now);
  end(*host, id, actor, now);
}

void LeaseEvents::clean(Host& host, model::WorkId lease, Now now) {
  const auto& lends = policy_.pools[host.instance.pool].leases;
  model::HostExec command;
  command.purpose = "the host is cleaned after " + lease.text();
  command.arguments = {"sh", "-s"};
  command.input = lends->clean_command;
  command.as_root = true;
  command.limit = kCleaningLimit;
  if (commands_.clean(host.id(), lease, command, now)) return;
  work::Lease& ending = *leases_.find(lease);
  apply(ending, work::cleaned(ending, "too many commands run on the host", now), "host", now);
}

void LeaseEvents::end(Host& host, model::WorkId lease, const char* actor, Now now) {
  auto& instance = host.instance;
  instance_steps_.apply(host, fleet::lease_ended(instance, lease, now), actor, now);
  instance_steps_.apply(host, fleet::work_changed(instance, policy_.pools[instance.pool], now),
                        actor, now);
}

}  // namespace hostler::dispatch
