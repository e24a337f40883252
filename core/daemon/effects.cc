#include "core/daemon/effects.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

namespace hostler::daemon {
namespace {

using Bodies = std::unordered_map<model::WorkId, std::shared_ptr<const std::string>>;

/// Hands one effect over. Calls of clouds are overloads of Clouds::execute().
struct Issue {
  const Effects::Targets& targets;
  const Bodies& bodies;

  void operator()(model::HostCommand& command) const {
    auto* start = std::get_if<model::StartAttempt>(&command);
    if (start == nullptr) return targets.hosts->send(std::move(command));
    const auto body = bodies.find(start->attempt.work);
    targets.hosts->send_start(std::move(*start), body == bodies.end() ? nullptr : body->second);
  }
  void operator()(dispatch::MakePlan& request) const { targets.planner->make(std::move(request)); }
  void operator()(dispatch::EpochsCompared& result) const { targets.on_epochs(result); }
  void operator()(dispatch::Reply& reply) const { targets.replies->answer(std::move(reply)); }
  void operator()(dispatch::PushReply& reply) const { targets.replies->answer(std::move(reply)); }
  void operator()(dispatch::DrainCall& call) const { targets.drains->run(std::move(call)); }
  template <class Call>
  void operator()(Call& call) const {
    targets.clouds->execute(call);
  }
};

}  // namespace

void Effects::issue(std::vector<dispatch::Effect> effects,
                    const std::vector<store::Committed::Body>& bodies) {
  Bodies by_work;
  for (const auto& body : bodies) by_work.emplace(body.work, body.text);
  const Issue issue_one{targets_, by_work};
  for (auto& effect : effects) std::visit(issue_one, effect);
}

}  // namespace hostler::daemon
