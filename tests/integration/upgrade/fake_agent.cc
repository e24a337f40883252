#include "tests/integration/upgrade/fake_agent.h"

#include <utility>

namespace hostler::upgrade {
namespace {

using dispatch::Event;
using model::AttemptPhase;

model::AttemptEnd success() {
  model::AttemptEnd end;
  end.started = end.ended = Wall{1};
  return end;
}

Event event(model::InstanceId host, model::HostEventBody body) {
  return model::HostEvent{host, std::move(body)};
}

}  // namespace

FakeAgent::FakeAgent(const model::Restored& restored) {
  for (const auto& row : restored.instances) instances_.push_back(row.record);
  for (const auto& row : restored.attempts) {
    const bool ended = row.state == model::AttemptState::kEnded;
    attempts_[row.attempt] = ended ? AttemptPhase::kEnded : AttemptPhase::kRunning;
    starts_[row.attempt] = 1;
  }
}

std::vector<Event> FakeAgent::answer(const dispatch::Effect& effect) {
  if (const auto* command = std::get_if<model::HostCommand>(&effect)) return on(*command);
  if (const auto* open = std::get_if<dispatch::OpenSet>(&effect))
    return {dispatch::SetOpened{open->set, model::SetInfo{}}};
  if (const auto* call = std::get_if<dispatch::ListCall>(&effect)) return {list(*call)};
  if (const auto* plan = std::get_if<dispatch::MakePlan>(&effect))
    return {dispatch::PlanMade{plan->number, scheduler::make_plan(*plan->snapshot, *plan->policy)}};
  return {};
}

std::vector<Event> FakeAgent::on(const model::HostCommand& command) {
  if (const auto* connect = std::get_if<model::ConnectHost>(&command)) return connected(*connect);
  if (const auto* resume = std::get_if<model::ResumeAttempts>(&command)) return resumed(*resume);
  if (const auto* start = std::get_if<model::StartAttempt>(&command)) return started(*start);
  if (const auto* ack = std::get_if<model::AckAttempt>(&command)) attempts_.erase(ack->attempt);
  return {};
}

std::vector<Event> FakeAgent::connected(const model::ConnectHost& command) const {
  const model::InstanceId host = command.target.instance;
  model::HostReady ready;
  ready.connection = 1;
  for (const auto& record : instances_)
    if (record.id == host) ready.boot_id = record.boot_id;
  for (const auto& [attempt, phase] : attempts_) ready.attempts.push_back({attempt, phase});
  const auto& key = command.target.identity.public_key;
  return {event(host, model::HostVerified{model::VerifyMethod::kDelivered, key}),
          event(host, std::move(ready))};
}

std::vector<Event> FakeAgent::resumed(const model::ResumeAttempts& command) const {
  std::vector<Event> out;
  for (const auto& attempt : command.attempts) {
    if (attempts_.at(attempt) == AttemptPhase::kRunning)
      out.push_back(event(command.instance, model::AttemptExited{attempt, success()}));
    else
      out.push_back(event(command.instance, model::AttemptCollected{attempt, ""}));
  }
  return out;
}

std::vector<Event> FakeAgent::started(const model::StartAttempt& command) {
  ++starts_[command.attempt];
  return {event(command.instance, model::AttemptStarted{command.attempt, Wall{1}}),
          event(command.instance, model::AttemptExited{command.attempt, success()})};
}

Event FakeAgent::list(const dispatch::ListCall& call) const {
  std::vector<model::ListedInstance> all;
  for (const auto& record : instances_) {
    auto& seen = all.emplace_back();
    seen.id = record.provider_id;
    seen.idempotency_key = record.idempotency_key;
    seen.set_id = record.set;
    seen.state = model::CloudState::kRunning;
    seen.address = record.address;
  }
  return dispatch::SetListed{call.set, Mono{}, model::share(std::move(all))};
}

}  // namespace hostler::upgrade
