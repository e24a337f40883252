#pragma once

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/handlers/restored_work.h"
#include "core/dispatch/state/lost_time.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/questions/images.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// Restores the state of the journal after a restart. Later reports of clouds and hosts correct
/// it.
class Restore {
 public:
  Restore(const model::SitePolicy& policy, Sets& sets, Hosts& hosts, LostTime& lost_time,
          CallGates& gates, BootGates& boots, gates::Governor& governor, Recorder& recorder,
          Menu& menu, Images& images, SetAside& set_aside, RestoredWork& work, InstanceSteps& steps)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        lost_time_(lost_time),
        gates_(gates),
        boots_(boots),
        governor_(governor),
        recorder_(recorder),
        menu_(menu),
        images_(images),
        set_aside_(set_aside),
        work_(work),
        steps_(steps) {}

  /// Call it once, before any event. True: an instance of the journal has no set in the policy, so
  /// it is not managed.
  bool apply(model::Restored restored, Now now);
  /// Goes on with the instances of a set, which waited for its first list.
  void adopt(std::uint32_t set, Now now);

 private:
  bool take(model::InstanceChanged row, Now now);
  /// What --restored has done to the jobs that waited is told once.
  void tell_restored(const model::Restored& restored, Now now);

  const model::SitePolicy& policy_;
  Sets& sets_;
  Hosts& hosts_;
  LostTime& lost_time_;
  CallGates& gates_;
  BootGates& boots_;
  gates::Governor& governor_;
  Recorder& recorder_;
  Menu& menu_;
  Images& images_;
  SetAside& set_aside_;
  RestoredWork& work_;
  InstanceSteps& steps_;
};

}  // namespace hostler::dispatch
