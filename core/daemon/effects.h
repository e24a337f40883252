#pragma once

#include <functional>
#include <vector>

#include "core/daemon/clouds.h"
#include "core/daemon/drain_commands.h"
#include "core/daemon/pending_replies.h"
#include "core/daemon/planner.h"
#include "core/dispatch/effects.h"
#include "core/hosts/hosts.h"
#include "core/store/store.h"

namespace hostler::daemon {

/// Hands effects over to those who execute them, in order. Never blocks and does no work of its
/// own. Any thread; the daemon calls it on the loop's thread for immediate effects and on the
/// store's thread for those that waited for a commit.
class Effects {
 public:
  struct Targets {
    Clouds* clouds = nullptr;
    hosts::Hosts* hosts = nullptr;
    Planner* planner = nullptr;
    PendingReplies* replies = nullptr;
    DrainCommands* drains = nullptr;
    std::function<void(const dispatch::EpochsCompared&)> on_epochs = {};
  };
  explicit Effects(Targets targets) : targets_(targets) {}

  /// `bodies`: of the jobs that the effects start.
  void issue(std::vector<dispatch::Effect> effects,
             const std::vector<store::Committed::Body>& bodies);

 private:
  const Targets targets_;
};

}  // namespace hostler::daemon
