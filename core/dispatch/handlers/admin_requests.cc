#include "core/dispatch/handlers/admin_requests.h"

#include <utility>

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
  plan_.want();
  recorder_.reply(event.ticket, std::vector<model::WorkId>{});
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

void AdminRequests::policy_changed(Now now) {
  scheduler::Governor fresh(policy_);
  fresh.keep_creates_of(governor_);
  set_aside_.count(policy_, fresh);
  governor_ = std::move(fresh);
  menu_.reload();
  for (const auto id : hosts_.ids()) {
    Host& host = *hosts_.change(id);
    host.instance.type = menu_.type_index(host.instance.record.type);
    host.counted_price.reset();
    steps_.count(host);
  }
  plan_.reload(policy_);
  recorder_.record("admin", "site", model::Event::kPolicyChanged, "",
                   "the configuration was read again", now);
  gates_.reloaded(now);
}

}  // namespace hostler::dispatch
