#pragma once

#include <map>
#include <vector>

#include "core/dispatch/dispatcher.h"

namespace hostler::upgrade {

/// Stands for the cloud and the agents of the hosts that a state folder knows: it answers the
/// dispatcher's effects as the real ones would. Jobs that it starts, or that run when it is asked
/// first, succeed.
class FakeAgent {
 public:
  /// Instances and attempts of the folder, as the last daemon left them.
  explicit FakeAgent(const model::Restored& restored);

  /// The events that answer one effect, in order.
  std::vector<dispatch::Event> answer(const dispatch::Effect& effect);
  /// How often each attempt was started on a host, in the life of both daemons.
  [[nodiscard]] const std::map<model::AttemptId, int>& starts() const { return starts_; }

 private:
  std::vector<dispatch::Event> on(const model::HostCommand& command);
  std::vector<dispatch::Event> connected(const model::ConnectHost& command) const;
  std::vector<dispatch::Event> resumed(const model::ResumeAttempts& command) const;
  std::vector<dispatch::Event> started(const model::StartAttempt& command);
  [[nodiscard]] dispatch::Event list(const dispatch::ListCall& call) const;

  std::vector<model::InstanceRecord> instances_;
  std::map<model::AttemptId, model::AttemptPhase> attempts_;
  std::map<model::AttemptId, int> starts_;
};

}  // namespace hostler::upgrade
