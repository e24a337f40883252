#include <utility>

#include "core/dispatch/dispatcher.h"

/// What people ask of the fleet.
namespace hostler::dispatch {

void Dispatcher::on(SetIdleBehavior& event, Now now) {
  Host* found = change(event.instance);
  if (found == nullptr)
    return reply(event.ticket, fail(Errc::kNotFound, "no instance " + event.instance.text()));
  const auto& record = found->instance.record;
  if (record.state == model::InstanceState::kTerminating ||
      record.state == model::InstanceState::kAbandoned)
    return reply(event.ticket,
                 fail(Errc::kConflict, event.instance.text() + " is " + to_string(record.state) +
                                           (record.reason.empty() ? "" : ": " + record.reason)));
  settle(*found, fleet::set_idle_behavior(found->instance, event.behavior, event.actor, now),
         "user", now);
  plan_soon();
  reply(event.ticket, std::vector<model::WorkId>{});
}

void Dispatcher::on(KillInstance& event, Now now) {
  Host* found = change(event.instance);
  if (found == nullptr)
    return reply(event.ticket, fail(Errc::kNotFound, "no instance " + event.instance.text()));
  settle(
      *found,
      fleet::terminate(
          found->instance, model::Reason::kKilled,
          "by " + event.actor + (event.reason.empty() ? std::string() : ": " + event.reason), now),
      "user", now);
  reply(event.ticket, std::vector<model::WorkId>{});
}

/// Sets and pools keep their order and names (a reload that changes them is refused by config's
/// diff); types may come, go and move, timers, bounds and prices may differ.
void Dispatcher::on(PolicyChanged& event, Now now) {
  policy_ = std::move(event.policy);
  plan_policy_ = std::make_shared<const model::SitePolicy>(policy_);
  scheduler::Governor governor(policy_);
  governor.keep_creates_of(governor_);
  governor_ = std::move(governor);
  for (auto& [id, other] : hosts_) {
    other.instance.type = type_index(other.instance.record.type);
    other.counted_price.reset();
    count(other);
  }
  touch_all();
  unstoppable_.clear();
  build_offerings();
  // What an earlier plan says of offerings is about the old ones.
  rejected_.clear();
  if (std::exchange(planning_, false)) ++plan_number_;
  record("admin", "site", model::Event::kPolicyChanged, "", "the configuration was read again",
         now);
  opened("admin", gates_.settings_changed(), "the configuration was read again", now);
  plan_soon();
}

void Dispatcher::reply(Ticket ticket, Result<std::vector<model::WorkId>> result) {
  out_.effects.emplace_back(Reply{ticket, std::move(result)});
}

}  // namespace hostler::dispatch
