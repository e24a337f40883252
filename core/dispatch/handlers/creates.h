#pragma once

#include <memory>
#include <string>

#include "core/dispatch/create_secrets.h"
#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/create_refusals.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/questions/images.h"
#include "core/dispatch/state/rests.h"
#include "core/dispatch/state/waiting_work.h"
#include "core/scheduler/plan.h"

namespace hostler::dispatch {

/// Executes the create actions of plans.
class Creates {
 public:
  Creates(const model::SitePolicy& policy, Sets& sets, Hosts& hosts, const WaitingWork& waiting,
          gates::Governor& governor, PlanState& plan, Recorder& recorder, const Menu& menu,
          const Images& images, const CreateRefusals& refusals, Rests& rests,
          CreateSecretsFactory make_secrets, InstanceCalls& calls, InstanceSteps& steps)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        waiting_(waiting),
        governor_(governor),
        plan_(plan),
        recorder_(recorder),
        menu_(menu),
        images_(images),
        refusals_(refusals),
        rests_(rests),
        make_secrets_(std::move(make_secrets)),
        calls_(calls),
        steps_(steps) {}

  /// No effect if the state has changed since the plan was made: the work is gone, the set is
  /// closed, or a ceiling or a gate forbids the create.
  void apply(const scheduler::Create& create, Now now);

 private:
  [[nodiscard]] bool still_holds(const scheduler::Create& create, Now now) const;
  /// What the type costs in each set of the pool, first where it is bought; empty in a pool of one
  /// set.
  [[nodiscard]] std::string prices_by_set(const scheduler::Offering& bought) const;
  /// Writes the create's key and the host's identity into the record.
  [[nodiscard]] std::shared_ptr<model::CreateRequest> make_request(
      const scheduler::Offering& offering, model::InstanceRecord& record) const;

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  const WaitingWork& waiting_;
  gates::Governor& governor_;
  PlanState& plan_;
  Recorder& recorder_;
  const Menu& menu_;
  const Images& images_;
  const CreateRefusals& refusals_;
  Rests& rests_;
  const CreateSecretsFactory make_secrets_;
  InstanceCalls& calls_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
