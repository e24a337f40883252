#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/model/cloud.h"
#include "core/model/host.h"

namespace hostler::simulation {

/// An attempt on a machine, as the agent there knows it.
struct Run {
  bool running = true;
  std::vector<std::string> cards = {};  ///< UUIDs of those that it was started with.
};

/// A machine of a simulated cloud, and the agent on it.
struct Machine {
  std::uint64_t number = 0;  ///< In its cloud.
  std::string id;            ///< Its address, too.
  model::CreateRequest request;
  model::InstanceId instance;
  model::CloudState state = model::CloudState::kPending;
  bool comes_up = true;  ///< False: nobody can ever log in.
  Mono ready_at;         ///< From then on hostler can log in, while it runs.
  std::uint64_t boots = 1;
  std::map<model::AttemptId, Run> runs;
  // Its cost.
  model::Micros price_per_hour;
  Mono paid_until;
  /// As lists show it, until something of that changes.
  mutable std::shared_ptr<const model::ListedInstance> shown;

  void enter(model::CloudState next) {
    state = next;
    shown.reset();
  }

  /// It is paid for.
  [[nodiscard]] bool is_on() const {
    return state == model::CloudState::kPending || state == model::CloudState::kRunning ||
           state == model::CloudState::kTerminating || state == model::CloudState::kStopping;
  }
  [[nodiscard]] std::string boot_id() const { return id + "/" + std::to_string(boots); }
};

}  // namespace hostler::simulation
