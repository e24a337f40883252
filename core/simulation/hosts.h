#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "core/model/host.h"
#include "core/simulation/machine.h"
#include "core/simulation/timeline.h"

namespace hostler::simulation {

/// The daemon's links to its hosts, and the agents there, which run the attempts.
class Hosts {
 public:
  /// How long an attempt runs, and whether its job fails.
  struct Fate {
    Duration runs{};
    bool fails = false;
  };
  using Post = std::function<void(model::HostEvent)>;
  using Find = std::function<Machine*(const std::string& address)>;
  using Look = std::function<Fate(model::WorkId)>;

  Hosts(Timeline& time, Find find, Look look, Post post)
      : time_(time), find_(std::move(find)), look_(std::move(look)), post_(std::move(post)) {}

  void take(const model::HostCommand& command);
  /// A machine has gone or is switched off: its link notices that after a while.
  void lost(model::InstanceId instance);

 private:
  struct Link {
    model::HostTarget target;
    bool up = false;
    std::uint64_t connection = 0;
    std::string boot_id;  ///< While it is up.
  };
  using LinkPtr = std::shared_ptr<Link>;

  void on(const model::ConnectHost& command);
  void on(const model::DisconnectHost& command) { links_.erase(command.instance); }
  void on(const model::ResumeAttempts&) {}
  void on(const model::StartAttempt& command);
  void on(const model::KillAttempt& command);
  void on(const model::InterruptAttempt&) {}
  void on(const model::AckAttempt& command);
  void on(const model::ActivateRotation&) {}
  void on(const model::RunCommand& command);

  void try_connect(const LinkPtr& link);
  void come_up(const LinkPtr& link, Machine& machine);
  void finish(model::InstanceId instance, const std::string& boot_id, model::AttemptId attempt,
              const model::AttemptEnd& end);
  void say(const LinkPtr& link, model::HostEventBody body);
  [[nodiscard]] LinkPtr find(model::InstanceId id) const;
  /// The machine of a link that is up, as it was when it came up.
  [[nodiscard]] Machine* machine_of(model::InstanceId id) const;

  Timeline& time_;
  const Find find_;
  const Look look_;
  const Post post_;
  std::map<model::InstanceId, LinkPtr> links_;
  std::uint64_t connections_ = 0;
};

}  // namespace hostler::simulation
