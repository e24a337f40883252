#pragma once

#include <optional>

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/state/ended_instances.h"
#include "core/dispatch/state/lost_time.h"
#include "core/dispatch/state/menu.h"

namespace hostler::dispatch {

/// Makes hosts of listed machines that the journal does not have.
class Adoptions {
 public:
  Adoptions(const model::SitePolicy& policy, const Sets& sets, Hosts& hosts,
            const EndedInstances& ended, const LostTime& lost_time, const Menu& menu,
            Recorder& recorder, InstanceSteps& steps)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        ended_(ended),
        lost_time_(lost_time),
        menu_(menu),
        recorder_(recorder),
        steps_(steps) {}

  /// Adopts a machine that the journal does not have, or that is taken over. Its secrets are lost,
  /// so without a proof by the driver it gets no work, and is destroyed at its boot deadline. One
  /// that was destroyed before is destroyed again at once; one that may have work of a lost time is
  /// kept. Unset: no pool uses the set.
  std::optional<model::InstanceId> adopt(std::uint32_t set, const model::ListedInstance& seen,
                                         Mono as_of, Now now);

 private:
  /// Destroys the adopted instance, which was destroyed as `was` before.
  void end_again(model::InstanceId id, model::InstanceId was, Now now);
  [[nodiscard]] std::optional<std::uint32_t> pool_of(const Set& set,
                                                     const model::ListedInstance& seen) const;

  const model::SitePolicy& policy_;
  const Sets& sets_;
  Hosts& hosts_;
  const EndedInstances& ended_;
  const LostTime& lost_time_;
  const Menu& menu_;
  Recorder& recorder_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
