#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/daemon/clouds.h"
#include "core/daemon/planner.h"
#include "core/daemon/tickets.h"
#include "core/dispatch/events.h"
#include "core/store/store.h"

namespace hostler::daemon {

/// Carries effects out, in order, once all changes before them are durable. Store thread.
class Effects {
 public:
  struct Targets {
    Clouds* clouds = nullptr;
    Planner* planner = nullptr;
    Tickets* tickets = nullptr;
    std::function<void(model::HostCommand)> hosts;
    std::function<void(dispatch::Event)> post;
  };
  explicit Effects(Targets targets) : targets_(std::move(targets)) {}

  void carry_out(std::vector<dispatch::Effect> effects, const store::Committed& committed);

 private:
  using Bodies = std::unordered_map<model::WorkId, std::shared_ptr<const std::string>>;
  void send(model::HostCommand command, const Bodies& bodies);

  const Targets targets_;
};

}  // namespace hostler::daemon
