#include "core/daemon/effects.h"

#include <utility>

#include "core/api/job_codec.h"
#include "core/log/log.h"

namespace hostler::daemon {

void Effects::carry_out(std::vector<dispatch::Effect> effects, const store::Committed& committed) {
  Bodies bodies;
  for (const auto& body : committed.bodies) bodies.emplace(body.work, body.text);
  for (auto& effect : effects) {
    if (auto* command = std::get_if<model::HostCommand>(&effect))
      send(std::move(*command), bodies);
    else if (auto* plan = std::get_if<dispatch::MakePlan>(&effect))
      targets_.planner->make(std::move(*plan));
    else if (auto* reply = std::get_if<dispatch::Reply>(&effect))
      targets_.tickets->answer(std::move(*reply));
    else if (const auto* open = std::get_if<dispatch::OpenSet>(&effect))
      targets_.clouds->carry_out(*open);
    else if (const auto* create = std::get_if<dispatch::CreateCall>(&effect))
      targets_.clouds->carry_out(*create);
    else if (const auto* list = std::get_if<dispatch::ListCall>(&effect))
      targets_.clouds->carry_out(*list);
    else if (const auto* destroy = std::get_if<dispatch::DestroyCall>(&effect))
      targets_.clouds->carry_out(*destroy);
    else if (const auto* tags = std::get_if<dispatch::TagsCall>(&effect))
      targets_.clouds->carry_out(*tags);
    else if (const auto* power = std::get_if<dispatch::PowerCall>(&effect))
      targets_.clouds->carry_out(*power);
    else if (const auto* prices = std::get_if<dispatch::PricesCall>(&effect))
      targets_.clouds->carry_out(*prices);
  }
}

/// A start takes its job's body along: bodies stay in the store until they are needed.
void Effects::send(model::HostCommand command, const Bodies& bodies) {
  if (auto* start = std::get_if<model::StartAttempt>(&command)) {
    const auto body = bodies.find(start->attempt.work);
    Result<model::JobSpec> spec =
        body == bodies.end()
            ? Result<model::JobSpec>(fail(Errc::kInternal, "its body is not in the store"))
            : api::read_job(*body->second);
    if (!spec) {
      log::error("daemon", start->attempt.text() + " cannot start: " + spec.error().message);
      model::AttemptEnd end;
      end.reason = model::EndReason::kStartFailed;
      end.text = spec.error().message;
      targets_.post(model::HostEvent{start->instance, model::AttemptExited{start->attempt, end}});
      return;
    }
    start->spec = std::make_shared<const model::JobSpec>(std::move(*spec));
  }
  targets_.hosts(std::move(command));
}

}  // namespace hostler::daemon
