#include "core/dispatch/handlers/admin_requests.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/pricing/doubt.h"

namespace hostler::dispatch {
namespace {

Error no_instance(model::InstanceId id) { return {Errc::kNotFound, "no instance " + id.text()}; }

}  // namespace

void AdminRequests::on(const SetIdleBehavior& event, Now now) {
  Host* host = hosts_.change(event.instance);
  if (host == nullptr)
    return recorder_.reply(event.ticket, tl::unexpected(no_instance(event.instance)));
  const auto& record = host->instance.record;
  if (record.state == model::InstanceState::kTerminating ||
      record.state == model::InstanceState::kAbandoned ||
      record.state == model::InstanceState::kVanished)
    return recorder_.reply(
        event.ticket,
        fail(Errc::kConflict, event.instance.text() + " is " + to_string(record.state) +
                                  (record.reason.empty() ? "" : ": " + record.reason)));
  steps_.apply(*host, fleet::set_idle_behavior(host->instance, event.behavior, event.actor, now),
               "user", now);
  end_if_used(event.instance, now);
  plan_.want();
  recorder_.reply(event.ticket, std::vector<model::WorkId>{});
}

/// One that was held, or whose pool has another `uses_max`, may have had its uses.
void AdminRequests::end_if_used(model::InstanceId id, Now now) {
  Host* host = hosts_.change(id);
  if (host == nullptr) return;
  auto outcome = fleet::work_changed(host->instance, policy_.pools[host->instance.pool], now);
  if (outcome.changed) steps_.apply(*host, std::move(outcome), "dispatcher", now);
}

void AdminRequests::on(const KillInstance& event, Now now) {
  Host* host = hosts_.change(event.instance);
  if (host == nullptr)
    return recorder_.reply(event.ticket, tl::unexpected(no_instance(event.instance)));
  const std::string reason =
      "by " + event.actor + (event.reason.empty() ? "" : ": " + event.reason);
  steps_.apply(*host, fleet::terminate(host->instance, model::Reason::kKilled, reason, now), "user",
               now);
  recorder_.reply(event.ticket, std::vector<model::WorkId>{});
}

void AdminRequests::on(const ReportReady& event, Now now) {
  Host* host = hosts_.change(event.instance);
  if (host == nullptr)
    return recorder_.reply(event.ticket, tl::unexpected(no_instance(event.instance)));
  const std::string id = event.instance.text();
  const auto& record = host->instance.record;
  const auto& pool = policy_.pools[host->instance.pool];
  if (pool.pushed)
    return recorder_.reply(
        event.ticket, fail(Errc::kConflict, id + " is of pool " + pool.name +
                                                ", whose scheduler reports its hosts: push with "
                                                "its agent in `agents` (hostler push)"));
  if (pool.readiness != model::Readiness::kReported)
    return recorder_.reply(
        event.ticket,
        fail(Errc::kConflict, id + " is of pool " + pool.name + ", whose readiness is \"" +
                                  to_string(pool.readiness) +
                                  "\": hosts are reported where it is \"reported\""));
  if (record.state == model::InstanceState::kRequested)
    return recorder_.reply(event.ticket,
                           fail(Errc::kUnavailable, "the cloud has not shown " + id +
                                                        " yet: report it again in some seconds"));
  if (!fleet::takes_report(host->instance))
    return recorder_.reply(
        event.ticket,
        fail(Errc::kConflict, id + " is " + to_string(record.state) +
                                  (record.reason.empty() ? "" : ": " + record.reason)));
  steps_.apply(*host, fleet::reported(host->instance, event.actor, pool, now), "user", now);
  plan_.want();
  recorder_.reply(event.ticket, std::vector<model::WorkId>{});
}

void AdminRequests::on(const OpenGate& event, Now now) {
  const auto gate = gates_.open(event.key, "by " + event.actor, now);
  if (!gate)
    return recorder_.reply(event.ticket, fail(Errc::kNotFound, "there is no shut gate '" +
                                                                   printable(event.key) + "'"));
  retry_now(*gate, now);
  recorder_.reply(event.ticket, std::vector<model::WorkId>{});
}

void AdminRequests::on(const DriverLoaded& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  Set& set = sets_.at(*index);
  set.driver.file = event.driver;
  for (const auto& gate : gates_.driver_loaded(event.set, event.driver, now)) retry_now(gate, now);
}

void AdminRequests::retry_now(const model::GateRecord& gate, Now now) {
  const auto index = sets_.index_of(gate.set);
  if (!index) return;
  Set& set = sets_.at(*index);
  const auto held = [&](model::CloudOp op) {
    return gates::holds(gate, {.set = gate.set, .op = op});
  };
  if (held(model::CloudOp::kList)) set.want_list_at_once(policy_.sets[*index], now.mono);
  if (held(model::CloudOp::kOpen) && !set.is_open()) set.opening.want_now(now.mono);
  if (held(model::CloudOp::kQuotaGroup)) set.quota_groups.retry(now.mono);
  questions_.ask_held_back(*index, gate, now);
  if (held(model::CloudOp::kDestroyLeftover)) leftovers_.of(*index).look_at = now.mono;
  if (held(model::CloudOp::kWatch)) watches_.of(*index).next = now.mono;
  for (const auto id : hosts_.ids()) {
    Host& host = *hosts_.change(id);
    auto& instance = host.instance;
    const auto state = instance.record.state;
    // What may exist already keeps the deadline by which its create is given up.
    const bool creates = state == model::InstanceState::kRequested && !host.calls.creates() &&
                         !instance.creating.is_outcome_unknown();
    const bool destroys = state == model::InstanceState::kTerminating && !host.calls.destroys();
    const bool stops = state == model::InstanceState::kStopped && !host.calls.switches();
    if (instance.set != *index || (!creates && !destroys && !stops)) continue;
    const auto op = creates    ? model::CloudOp::kCreate
                    : destroys ? model::CloudOp::kDestroy
                               : model::CloudOp::kStop;
    if (instance.deadline == fleet::kNever || !gates::holds(gate, gates_.query(host, op))) continue;
    instance.deadline = std::min(instance.deadline, now.mono);
    hosts_.schedule(host);
  }
}

void AdminRequests::renew_menu(Now now) {
  gates::Governor fresh(policy_);
  fresh.keep_creates_of(governor_);
  set_aside_.count(policy_, fresh);
  for (std::uint32_t i = 0; i < sets_.size(); ++i) sets_.at(i).strangers.count(i, fresh);
  governor_ = std::move(fresh);
  for (auto& forgotten : menu_.reload()) recorder_.change(std::move(forgotten));
  for (const auto id : hosts_.ids()) {
    Host& host = *hosts_.change(id);
    host.instance.type = menu_.type_index(host.instance.record.type);
    host.counted_price.reset();
    steps_.count(host, now);
  }
  plan_.reload(policy_);
}

void AdminRequests::policy_changed(Now now) {
  const std::string will_go = closing_.close_hosts(now);
  recorder_.record("admin", "site", model::Event::kPolicyChanged, "",
                   "the configuration was read again" +
                       (will_go.empty() ? "" : "; hosts that go when they are empty: " + will_go),
                   now);
  for (const auto id : hosts_.ids()) end_if_used(id, now);
  boots_.reloaded(now);
  gates_.reloaded(now);
  open_prices(now);
}

/// Opens gates of prices that the new configuration makes plausible.
void AdminRequests::open_prices(Now now) {
  std::vector<model::GateRecord> opened;
  const auto is_plausible = [&](const model::GateRecord& gate) {
    const bool is_doubted = std::ranges::any_of(menu_.offerings(), [&](const auto& offering) {
      return pricing::is_doubted(offering.price_per_hour,
                                 policy_.types[offering.type].price_per_hour) &&
             gates::holds(gate, gates_.create_query(offering));
    });
    if (!is_doubted) opened.push_back(gate);
    return !is_doubted;
  };
  gates_.open_prices(is_plausible, now);
  for (const auto& gate : opened) retry_now(gate, now);  // Creates that wait for it.
}

}  // namespace hostler::dispatch
