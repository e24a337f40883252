#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "core/dispatch/dispatcher.h"

/// What links say of their hosts, and what every change of an instance entails.
namespace hostler::dispatch {

void Dispatcher::on(model::HostEvent& event, Now now) {
  Host* found = change(event.instance);
  if (found != nullptr) std::visit([&](const auto& body) { hear(*found, body, now); }, event.body);
}

void Dispatcher::hear(Host& host, const model::HostNotYet& said, Now now) {
  settle(host, fleet::not_yet(host.instance, said, now), "host", now);
}

void Dispatcher::hear(Host& host, const model::HostVerified& said, Now now) {
  settle(host, fleet::verified(host.instance, said, now), "host", now);
}

void Dispatcher::hear(Host& host, const model::HostKeyAlarm& said, Now now) {
  settle(host, fleet::key_alarm(host.instance, said, policy_.pools[host.instance.pool], now),
         "host", now);
}

void Dispatcher::hear(Host& host, const model::RotationProposed& said, Now now) {
  const auto& record = host.instance.record;
  auto outcome = fleet::rotation_proposed(host.instance, said);
  const bool accepted = outcome.changed;
  settle(host, std::move(outcome), "host", now);
  if (accepted)
    out_.effects.emplace_back(
        model::HostCommand(model::ActivateRotation{record.id, record.identity}));
}

void Dispatcher::hear(Host& host, const model::RotationEnded& said, Now now) {
  settle(host, fleet::rotation_ended(host.instance, said), "host", now);
}

void Dispatcher::hear(Host& host, const model::HostReady& said, Now now) {
  const model::InstanceId id = host.instance.record.id;
  settle(host, fleet::ready(host.instance, said, now), "host", now);
  compare_attempts(host, said, now);
  if (Host* still = change(id)) fill(*still, now);
}

void Dispatcher::hear(Host& host, const model::HostLost& said, Now now) {
  settle(host, fleet::lost(host.instance, said, policy_.pools[host.instance.pool], now), "host",
         now);
}

void Dispatcher::hear(Host& host, const model::HostBroken& said, Now now) {
  settle(host, fleet::broken(host.instance, said, now), "host", now);
}

void Dispatcher::hear(Host& host, const model::HostInterruption& said, Now now) {
  settle(host,
         fleet::set_idle_behavior(host.instance, model::IdleBehavior::kDrain,
                                  "an interruption notice: " + said.text, now),
         "host", now);
}

/// Journals what a step changed and turns its effects into calls. May end the host: callers do not
/// touch it afterwards unless they look it up again.
void Dispatcher::settle(Host& host, fleet::Outcome outcome, const char* actor, Now now) {
  const model::InstanceId id = host.instance.record.id;
  if (outcome.event) {
    record(actor, id.text(), *outcome.event, outcome.reason_code, outcome.reason, now);
    if (actor == std::string_view("scheduler")) decided(host.instance.pool);
  }
  auto& instance = host.instance;
  if (instance.record.state == model::InstanceState::kAbandoned &&
      instance.deadline == fleet::kNever) {
    instance.deadline = now.mono + policy_.abandoned_for;
    instance.record.deadline = now.wall + policy_.abandoned_for;
  }
  if (outcome.changed) {
    const bool used_up = host.create && host.instance.create_is_over();
    out_.changes.emplace_back(model::InstanceChanged{host.instance.record, nullptr, used_up});
    if (used_up) host.create.reset();
  }
  count(host);
  for (const auto effect : outcome.effects) carry_out(effect, host, outcome.list_after, now);
  if (std::ranges::find(outcome.effects, fleet::Effect::kGone) != outcome.effects.end())
    gone(id, now);
  else
    schedule(host);
}

void Dispatcher::carry_out(fleet::Effect effect, Host& host, Duration list_after, Now now) {
  const auto& record = host.instance.record;
  switch (effect) {
    case fleet::Effect::kConnect:
      if (!record.address.empty())
        out_.effects.emplace_back(model::HostCommand(model::ConnectHost{target(host)}));
      break;
    case fleet::Effect::kDisconnect:
      out_.effects.emplace_back(model::HostCommand(model::DisconnectHost{record.id}));
      break;
    case fleet::Effect::kCreateAgain:
      send_create(host, now);
      break;
    case fleet::Effect::kDestroy:
      send_destroy(host, now);
      break;
    case fleet::Effect::kList:
      want_list(host.instance.set, now.mono + list_after);
      break;
    case fleet::Effect::kRetag:
      send_tags(host);
      break;
    case fleet::Effect::kStop:
      send_power(host, model::CloudOp::kStop, now);
      break;
    case fleet::Effect::kStart:
      send_power(host, model::CloudOp::kStart, now);
      break;
    case fleet::Effect::kGone:
      break;  // Once all is done, as it ends the host.
  }
}

void Dispatcher::count(Host& host) {
  const auto& instance = host.instance;
  std::optional<model::Micros> price;
  if (instance.may_exist()) price = instance.record.price_per_hour;
  if (host.counted_price == price) return;
  if (host.counted_price) governor_.removed(instance.set, instance.pool, *host.counted_price);
  if (price) governor_.added(instance.set, instance.pool, *price);
  if (!price) plan_soon();  // A ceiling may have room again.
  host.counted_price = price;
}

Dispatcher::Host Dispatcher::new_host(std::uint32_t set, std::uint32_t pool, Now now) const {
  Host made;
  auto& instance = made.instance;
  instance.set = set;
  instance.pool = pool;
  instance.created = instance.since = instance.known_at = now.mono;
  auto& record = instance.record;
  record.id = {last_instance_ + 1};
  record.set = sets_[set].name;
  record.pool = policy_.pools[pool].name;
  record.epoch = epoch_;
  record.created = record.state_since = now.wall;
  return made;
}

Dispatcher::Host& Dispatcher::add(Host made) {
  const auto& record = made.instance.record;
  const model::InstanceId id = record.id;
  last_instance_ = id.value;
  remember(record);
  touched_.push_back(id);
  return hosts_.emplace(id, std::move(made)).first->second;
}

/// The instance is certain not to exist any more: its attempts are lost, its ceilings free.
void Dispatcher::gone(model::InstanceId id, Now now) {
  Host* ended = change(id);
  if (ended == nullptr) return;
  const std::string why =
      id.text() + " is gone (" + to_string(ended->instance.record.reason_code) + ")";
  const std::vector<Live> attempts = ended->attempts;
  for (const Live& lost : attempts) {
    finish(*ended, lost.attempt, now);
    if (work::Job* affected = job_of(lost.attempt))
      settle(*affected, work::host_gone(*affected, why, now), now);
  }
  const auto& instance = ended->instance;
  if (ended->counted_price) governor_.removed(instance.set, instance.pool, *ended->counted_price);
  std::string group;
  if (instance.type) group = policy_.types[*instance.type].quota_group;
  // A create that was refused freed nothing: its own quota gate stays shut.
  if (!instance.record.provider_id.empty())
    opened("scheduler", gates_.destroyed(instance.record.set, group), why, now);
  if (const auto timer = timer_of_.find(id); timer != timer_of_.end()) {
    timers_.erase({timer->second, id});
    timer_of_.erase(timer);
  }
  forget(instance.record);
  hosts_.erase(id);
  plan_soon();
}

model::HostTarget Dispatcher::target(const Host& host) const {
  const auto& record = host.instance.record;
  const auto& set = policy_.sets[host.instance.set];
  return {.instance = record.id,
          .set = record.set,
          .provider_id = record.provider_id,
          .address = record.address,
          .port = record.ssh_port,
          .user = set.remote_user.empty() ? record.remote_user : set.remote_user,
          .pool = record.pool,
          .identity = record.identity};
}

const Dispatcher::Host* Dispatcher::find(model::InstanceId id) const {
  const auto found = hosts_.find(id);
  return found == hosts_.end() ? nullptr : &found->second;
}

Dispatcher::Host* Dispatcher::change(model::InstanceId id) {
  const auto found = hosts_.find(id);
  if (found == hosts_.end()) return nullptr;
  if (touched_.empty() || touched_.back() != id) touched_.push_back(id);
  return &found->second;
}

}  // namespace hostler::dispatch
