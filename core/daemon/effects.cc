#include "core/daemon/effects.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace hostler::daemon {
namespace {

using Bodies = std::unordered_map<model::WorkId, std::shared_ptr<const std::string>>;

void send(hosts::Hosts& hosts, model::HostCommand command, const Bodies& bodies) {
  auto* start = std::get_if<model::StartAttempt>(&command);
  if (start == nullptr) return hosts.send(std::move(command));
  const auto body = bodies.find(start->attempt.work);
  hosts.send_start(std::move(*start), body == bodies.end() ? nullptr : body->second);
}

}  // namespace

void Effects::issue(std::vector<dispatch::Effect> effects,
                    const std::vector<store::Committed::Body>& bodies) {
  Bodies by_job;
  for (const auto& body : bodies) by_job.emplace(body.job, body.text);
  for (auto& effect : effects) {
    if (auto* command = std::get_if<model::HostCommand>(&effect))
      send(*targets_.hosts, std::move(*command), by_job);
    else if (auto* plan = std::get_if<dispatch::MakePlan>(&effect))
      targets_.planner->make(std::move(*plan));
    else if (auto* reply = std::get_if<dispatch::Reply>(&effect))
      targets_.replies->answer(std::move(*reply));
    else if (const auto* open = std::get_if<dispatch::OpenSet>(&effect))
      targets_.clouds->execute(*open);
    else if (const auto* create = std::get_if<dispatch::CreateCall>(&effect))
      targets_.clouds->execute(*create);
    else if (const auto* list = std::get_if<dispatch::ListCall>(&effect))
      targets_.clouds->execute(*list);
    else if (const auto* destroy = std::get_if<dispatch::DestroyCall>(&effect))
      targets_.clouds->execute(*destroy);
    else if (const auto* tags = std::get_if<dispatch::TagsCall>(&effect))
      targets_.clouds->execute(*tags);
    else if (const auto* power = std::get_if<dispatch::PowerCall>(&effect))
      targets_.clouds->execute(*power);
    else if (const auto* prices = std::get_if<dispatch::PricesCall>(&effect))
      targets_.clouds->execute(*prices);
  }
}

}  // namespace hostler::daemon
