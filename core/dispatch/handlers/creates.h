#pragma once

#include <memory>
#include <string>

#include "core/dispatch/create_secrets.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/menu.h"
#include "core/scheduler/plan.h"

namespace hostler::dispatch {

/// Executes the create actions of plans.
class Creates {
 public:
  Creates(InstanceSteps::Owners owners, const Menu& menu, CreateSecretsFactory make_secrets,
          InstanceCalls& calls, InstanceSteps& steps)
      : owners_(owners),
        menu_(menu),
        make_secrets_(std::move(make_secrets)),
        calls_(calls),
        steps_(steps) {}

  /// No effect if the state has changed since the plan was made: the work is gone, the set is
  /// closed, or a ceiling or a gate forbids the create.
  void apply(const scheduler::Create& create, Now now);

 private:
  [[nodiscard]] bool still_holds(const scheduler::Create& create, Now now) const;
  /// Writes the create's key and the host's identity into the record.
  [[nodiscard]] std::shared_ptr<model::CreateRequest> make_request(
      const scheduler::Offering& offering, model::InstanceRecord& record) const;

  const InstanceSteps::Owners owners_;
  const Menu& menu_;
  const CreateSecretsFactory make_secrets_;
  InstanceCalls& calls_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
