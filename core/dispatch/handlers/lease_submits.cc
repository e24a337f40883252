#include "core/dispatch/handlers/lease_submits.h"

#include <algorithm>
#include <utility>

namespace hostler::dispatch {

void LeaseSubmits::on(SubmitLease& event, Now now) {
  const auto refuse = [&](const Error& error) {
    if (event.work.shape.gang.count > 0) gangs_.refused();
    recorder_.reply(event.ticket, tl::unexpected(error));
  };
  if (auto known = known_leases(event); !known.empty())
    return recorder_.reply(event.ticket, std::move(known));
  auto submit = checks_.as_submit(event);
  if (!submit) return refuse(submit.error());
  if (const auto good = checks_.check(*submit, now.mono); !good) return refuse(good.error());
  const auto within = quotas_.check(*submit, now.mono);
  if (!within) return refuse(within.error());
  quotas_.count_submit(event.principal, now.mono);
  plan_.want();
  recorder_.reply(event.ticket, accept(std::move(submit->work), event, now));
}

std::vector<model::WorkId> LeaseSubmits::known_leases(const SubmitLease& event) const {
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

std::vector<model::WorkId> LeaseSubmits::accept(std::vector<model::WorkItem> items,
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

}  // namespace hostler::dispatch
