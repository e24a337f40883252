#include <algorithm>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// What links say of their hosts, and what every change of an instance entails.
namespace hostler::dispatch {
namespace {

constexpr std::size_t kForeignShown = 10;

}  // namespace

Dispatcher::Host* Dispatcher::host(model::InstanceId id) {
  const auto found = hosts_.find(id);
  return found == hosts_.end() ? nullptr : &found->second;
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

/// Journals what a step changed and turns its effects into calls. May end the host: callers do not
/// touch it afterwards unless they look it up again.
void Dispatcher::settle(Host& host, fleet::Outcome outcome, const char* actor, Now now) {
  const model::InstanceId id = host.instance.record.id;
  if (!outcome.event.empty()) {
    record(actor, id.text(), outcome.event, outcome.reason_code, outcome.reason, now);
    if (actor == std::string_view("scheduler")) decided(host.instance.pool);
  }
  auto& instance = host.instance;
  if (instance.record.state == model::InstanceState::kAbandoned &&
      instance.deadline == fleet::kNever) {
    instance.deadline = now.mono + policy_.abandoned_for;
    instance.record.deadline = now.wall + policy_.abandoned_for;
  }
  if (instance.record.state == model::InstanceState::kIdle)  // Time alone will make it surplus.
    plan_wake_ = std::min(plan_wake_, instance.since + policy_.pools[instance.pool].idle_timeout);
  if (outcome.changed) {
    const bool used_up = host.create && host.instance.create_is_over();
    out_.changes.emplace_back(model::InstanceChanged{host.instance.record, nullptr, used_up});
    if (used_up) host.create.reset();
  }
  if (!outcome.event.empty()) plan_soon();
  count(host);
  bool ended = false;
  for (const auto effect : outcome.effects) {
    switch (effect) {
      case fleet::Effect::kConnect:
        if (!host.instance.record.address.empty())
          out_.effects.emplace_back(model::HostCommand(model::ConnectHost{target(host)}));
        break;
      case fleet::Effect::kDisconnect:
        out_.effects.emplace_back(model::HostCommand(model::DisconnectHost{id}));
        break;
      case fleet::Effect::kCreateAgain:
        send_create(host, now);
        break;
      case fleet::Effect::kDestroy:
        send_destroy(host, now);
        break;
      case fleet::Effect::kList:
        want_list(host.instance.set,
                  now.mono + std::max<Duration>(sets_[host.instance.set].info.list_interval_min,
                                                outcome.list_after));
        break;
      case fleet::Effect::kRetag: {
        model::SetTagsRequest request{.id = host.instance.record.provider_id};
        request.set[model::tag::kIdle] = model::to_string(host.instance.record.idle_behavior);
        if (!request.id.empty())
          out_.effects.emplace_back(TagsCall{host.instance.record.set, id, std::move(request),
                                             policy_.sets[host.instance.set].list_timeout});
        break;
      }
      case fleet::Effect::kStop:
        send_power(host, model::CloudOp::kStop, now);
        break;
      case fleet::Effect::kStart:
        send_power(host, model::CloudOp::kStart, now);
        break;
      case fleet::Effect::kGone:
        ended = true;
        break;
    }
  }
  if (ended)
    gone(id, now);
  else
    schedule(host);
}

/// The instance is certain not to exist any more: its attempts are lost, its ceilings free.
void Dispatcher::gone(model::InstanceId id, Now now) {
  Host* ended = host(id);
  if (ended == nullptr) return;
  const std::string why = id.text() + " is gone (" + ended->instance.record.reason_code + ")";
  const std::vector<Live> attempts = ended->attempts;
  for (const Live& lost : attempts) {
    finish(*ended, lost.attempt, now);
    work::Job* affected = job(lost.attempt.job);
    if (affected == nullptr || affected->attempt() != lost.attempt) continue;
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
  by_key_.erase(
      known_by(instance.record.set, instance.record.idempotency_key, instance.record.provider_id));
  if (instance.record.idempotency_key.empty())  // Its id may have changed since it was named.
    by_key_.erase(known_by(instance.record.set, "", instance.record.request_id));
  hosts_.erase(id);
  plan_soon();
}

void Dispatcher::on(model::HostEvent& event, Now now) {
  Host* found = host(event.instance);
  if (found == nullptr) return;
  auto& instance = found->instance;
  const auto& pool = policy_.pools[instance.pool];
  const auto take = [&](fleet::Outcome outcome) {
    settle(*found, std::move(outcome), "host", now);
  };
  if (auto* not_yet = std::get_if<model::HostNotYet>(&event.body)) {
    take(fleet::not_yet(instance, *not_yet, now));
  } else if (auto* verified = std::get_if<model::HostVerified>(&event.body)) {
    take(fleet::verified(instance, *verified, now));
  } else if (auto* alarm = std::get_if<model::HostKeyAlarm>(&event.body)) {
    take(fleet::key_alarm(instance, *alarm, pool, now));
  } else if (auto* proposed = std::get_if<model::RotationProposed>(&event.body)) {
    auto outcome = fleet::rotation_proposed(instance, *proposed);
    const bool accepted = outcome.changed;
    take(std::move(outcome));
    if (accepted)
      out_.effects.emplace_back(
          model::HostCommand(model::ActivateRotation{event.instance, instance.record.identity}));
  } else if (auto* rotated = std::get_if<model::RotationEnded>(&event.body)) {
    take(fleet::rotation_ended(instance, *rotated));
  } else if (auto* ready = std::get_if<model::HostReady>(&event.body)) {
    take(fleet::ready(instance, *ready, now));
    compare_attempts(*found, *ready, now);
    if (Host* still = host(event.instance)) fill(*still, now);
  } else if (auto* lost = std::get_if<model::HostLost>(&event.body)) {
    take(fleet::lost(instance, *lost, pool, now));
  } else if (auto* broken = std::get_if<model::HostBroken>(&event.body)) {
    take(fleet::broken(instance, *broken, now));
  } else if (auto* interruption = std::get_if<model::HostInterruption>(&event.body)) {
    take(fleet::set_idle_behavior(instance, model::IdleBehavior::kDrain,
                                  "an interruption notice: " + interruption->text, now));
  } else if (auto* started = std::get_if<model::AttemptStarted>(&event.body)) {
    work::Job* affected = job(started->attempt.job);
    if (affected != nullptr && live(*found, started->attempt) != nullptr &&
        affected->attempt() == started->attempt)
      settle(*affected, work::started(*affected, started->started), now);
    instance.refusals = 0;
  } else if (auto* refused = std::get_if<model::AttemptRefused>(&event.body)) {
    const Live* its = live(*found, refused->attempt);
    if (its == nullptr) return;
    const std::uint64_t sequence = its->sequence;
    finish(*found, refused->attempt, now);
    work::Job* affected = job(refused->attempt.job);
    if (affected != nullptr && affected->attempt() == refused->attempt)
      settle(*affected, work::never_started(*affected, refused->text, now), now);
    take(fleet::start_refused(instance, sequence, refused->text, now));
    settle(*found, fleet::work_changed(instance, now), "host", now);
  } else if (auto* exited = std::get_if<model::AttemptExited>(&event.body)) {
    attempt_exited(*found, *exited, now);
  } else if (auto* collected = std::get_if<model::AttemptCollected>(&event.body)) {
    if (live(*found, collected->attempt) == nullptr) return;
    finish(*found, collected->attempt, now);
    work::Job* affected = job(collected->attempt.job);
    if (affected != nullptr && affected->attempt() == collected->attempt)
      settle(*affected, work::collected(*affected, collected->lost, now), now);
    out_.effects.emplace_back(
        model::HostCommand(model::AckAttempt{event.instance, collected->attempt}));
    settle(*found, fleet::work_changed(instance, now), "host", now);
  }
}

/// A fresh connection tells all that its host knows; what we sent and it does not know never
/// started (same boot), or counts as started and lost (another boot).
void Dispatcher::compare_attempts(Host& host, const model::HostReady& report, Now now) {
  const model::InstanceId id = host.instance.record.id;
  std::map<model::AttemptId, model::AttemptPhase> told;
  for (const auto& one : report.attempts) told[one.attempt] = one.phase;
  model::ResumeAttempts resume{id, report.connection, {}};
  const std::vector<Live> ours = host.attempts;
  for (const Live& live_one : ours) {
    work::Job* affected = job(live_one.attempt.job);
    if (affected == nullptr || affected->attempt() != live_one.attempt) {
      finish(host, live_one.attempt, now);
      continue;
    }
    const auto found = told.find(live_one.attempt);
    if (found == told.end()) {
      finish(host, live_one.attempt, now);
      if (live_one.collecting)
        settle(*affected, work::collected(*affected, "its output is not on the host any more", now),
               now);
      else if (live_one.boot_id == report.boot_id)
        settle(*affected, work::never_started(*affected, "the host does not know it", now), now);
      else
        settle(*affected, work::host_gone(*affected, "the host was rebooted", now), now);
    } else if (found->second == model::AttemptPhase::kUnknownEnd) {
      finish(host, live_one.attempt, now);
      settle(*affected, work::host_gone(*affected, "the host was rebooted", now), now);
      out_.effects.emplace_back(model::HostCommand(model::AckAttempt{id, live_one.attempt}));
    } else {
      resume.attempts.push_back(live_one.attempt);
      const bool runs = found->second == model::AttemptPhase::kRunning;
      if (runs) settle(*affected, work::started(*affected, now.wall), now);
      // The kill may have been lost with the connection, or with an earlier daemon.
      if (runs && affected->record && affected->record->cancel_requested)
        out_.effects.emplace_back(model::HostCommand(model::KillAttempt{id, live_one.attempt}));
    }
    told.erase(live_one.attempt);
  }
  out_.effects.emplace_back(model::HostCommand(std::move(resume)));
  std::size_t foreign = 0;
  for (const auto& [attempt, phase] : told) {
    // Not ours any more: ended and acknowledged by an earlier daemon, or cancelled meanwhile.
    if (phase == model::AttemptPhase::kRunning) {
      if (foreign++ < kForeignShown)  // A host says what it likes.
        record("host", attempt.text(), "unexpected_attempt", "", "killed on " + id.text(), now);
      out_.effects.emplace_back(model::HostCommand(model::KillAttempt{id, attempt}));
    } else {
      out_.effects.emplace_back(model::HostCommand(model::AckAttempt{id, attempt}));
    }
  }
  if (foreign > kForeignShown)
    record("host", id.text(), "unexpected_attempts", "",
           std::to_string(foreign - kForeignShown) + " more were killed", now);
  settle(host, fleet::work_changed(host.instance, now), "host", now);
}

}  // namespace hostler::dispatch
