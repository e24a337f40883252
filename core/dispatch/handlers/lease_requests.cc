#include "core/dispatch/handlers/lease_requests.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::dispatch {

using model::WorkState;

namespace {

/// Why the host is not the holder's any more, unless that is what the holder has asked for.
std::string lost(const work::Lease& lease) {
  using model::EndReason;
  const auto& record = lease.record;
  const bool is_lost =
      record.reason == EndReason::kHostLost || record.reason == EndReason::kInterrupted;
  return is_lost ? ": " + record.reason_text : "";
}

}  // namespace

void LeaseRequests::on(SubmitLease& event, Now now) {
  const auto refuse = [&](const Error& error) {
    if (event.work.shape.gang.count > 0) gangs_.refused();
    recorder_.reply(event.ticket, tl::unexpected(error));
  };
  if (auto known = known_leases(event); !known.empty())
    return recorder_.reply(event.ticket, std::move(known));
  auto submit = checks_.as_submit(event);
  if (!submit) return refuse(submit.error());
  if (const auto good = checks_.check(*submit, now.mono); !good) return refuse(good.error());
  const auto count = static_cast<std::uint32_t>(submit->work.size());
  if (const auto few = leases_.check_texts(event.principal, event.lease, count); !few)
    return refuse(few.error());
  const auto within = quotas_.check(*submit, now.mono);
  if (!within) return refuse(within.error());
  quotas_.count_submit(event.principal, now.mono);
  plan_.want();
  recorder_.reply(event.ticket, accept(std::move(submit->work), event, now));
}

std::vector<model::WorkId> LeaseRequests::known_leases(const SubmitLease& event) const {
  const model::WorkItem& item = event.work;
  const auto* known = item.client_key.empty()
                          ? nullptr
                          : principals_.client_keys().find(event.principal, item.client_key);
  const bool is_same = known != nullptr && known->digest == item.client_digest &&
                       known->work.kind == model::WorkKind::kLease;
  std::vector<model::WorkId> out;
  const std::uint32_t count = std::max(1U, item.shape.gang.count);  // The others follow the first.
  for (std::uint32_t i = 0; is_same && i < count; ++i)
    out.push_back({known->work.value + i, model::WorkKind::kLease});
  return out;
}

std::vector<model::WorkId> LeaseRequests::accept(std::vector<model::WorkItem> items,
                                                 const SubmitLease& event, Now now) {
  std::vector<model::WorkId> ids;
  model::Gang gang = event.work.shape.gang;
  for (model::WorkItem& item : items) {
    item.principal = event.principal;
    item.submitted = now.wall;
    item.shape.gang = gang;
    model::LeaseRecord terms = event.lease;
    ids.push_back(leases_.add(item, terms, now));
    gang = item.shape.gang;
    recorder_.change(std::move(item));
    recorder_.change(model::LeaseChanged{std::move(terms)});
    recorder_.record("user", ids.back().text(), model::Event::kSubmitted, "",
                     "by " + event.principal, now);
  }
  return ids;
}

template <class Request>
work::Lease* LeaseRequests::find(const Request& event, model::WorkId id) {
  work::Lease* lease = leases_.find(id);
  if (lease == nullptr)
    recorder_.reply(event.ticket, id.value > waiting_.last_number()
                                      ? fail(Errc::kNotFound, "there is no lease " + id.text())
                                      : fail(Errc::kConflict, id.text() + " has ended"));
  else if (!event.admin && principals_.name(lease->principal) != event.principal)
    recorder_.reply(event.ticket, fail(Errc::kForbidden, id.text() + " is not yours"));
  else if (lease->state() == WorkState::kCollecting)
    recorder_.reply(event.ticket, fail(Errc::kConflict, id.text() + " has ended" + lost(*lease)));
  else
    return lease;
  return nullptr;
}

void LeaseRequests::refuse_early(const work::Lease& lease, Ticket ticket) {
  const std::string id = lease.id().text();
  recorder_.reply(ticket, fail(Errc::kConflict,
                               id + " is not granted yet (hostler cancel " + id + " ends it)"));
}

bool LeaseRequests::check_acts(const work::Lease& lease, Ticket ticket) {
  const Host* host = ends_.host_of(lease);
  if (host == nullptr || !accounts_.is_suspended(*host)) return true;
  recorder_.reply(ticket,
                  fail(Errc::kUnavailable,
                       "nothing is done in set " + policy_.sets[host->instance.set].name +
                           " now, as another hostlerd may have newer rows: ask again later, or "
                           "let the term of " +
                           lease.id().text() + " end (hostler sets)"));
  return false;
}

void LeaseRequests::on(const ReturnLease& event, Now now) {
  work::Lease* lease = find(event, event.lease);
  if (lease == nullptr) return;
  if (!lease->has_host()) return refuse_early(*lease, event.ticket);
  if (!check_acts(*lease, event.ticket)) return;
  ends_.apply(*lease, work::returned(*lease, event.used, ends_.cleans(*lease), now), "user", now);
  recorder_.reply(event.ticket, std::vector{event.lease});
}

void LeaseRequests::on(const RenewLease& event, Now now) {
  work::Lease* lease = find(event, event.lease);
  if (lease == nullptr) return;
  if (lease->state() != WorkState::kRunning) return refuse_early(*lease, event.ticket);
  const Host* host = hosts_.find(lease->record.instance);
  HOSTLER_ASSERT(host != nullptr, "a lease that is granted has a host");
  if (const auto good = check_term(policy_.pools[host->instance.pool], event.term); !good)
    return recorder_.reply(event.ticket, tl::unexpected(good.error()));
  steps_.apply(*lease, work::renewed(*lease, event.term, now), now);
  accounts_.tell(*host, *lease, now);
  recorder_.reply(event.ticket, std::vector{event.lease});
}

void LeaseRequests::on(const CancelWork& event, Now now) {
  work::Lease* lease = find(event, event.work);
  if (lease == nullptr || !check_acts(*lease, event.ticket)) return;
  if (lease->queued) waiting_.note_cancelled(lease->cls);
  ends_.apply(*lease, work::cancel(*lease, event.principal, ends_.cleans(*lease), now), "user",
              now);
  recorder_.reply(event.ticket, std::vector{event.work});
}

}  // namespace hostler::dispatch
