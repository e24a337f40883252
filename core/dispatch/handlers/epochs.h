#pragma once

#include "core/dispatch/handlers/restore.h"
#include "core/dispatch/state/plan_state.h"

namespace hostler::dispatch {

/// Compares the epochs in the tags of instances with the one of the rows. Tags are written with the
/// credentials of the cloud's account, so a job or a host cannot write them.
class Epochs {
 public:
  Epochs(Sets& sets, PlanState& plan, Recorder& recorder, Restore& restore, bool& is_old)
      : sets_(sets), plan_(plan), recorder_(recorder), restore_(restore), is_old_(is_old) {}

  /// A list, before anything else is made of it. False: the rows are old, nothing is done any more.
  bool compare(const SetListed& event, Now now);

 private:
  Sets& sets_;
  PlanState& plan_;
  Recorder& recorder_;
  Restore& restore_;
  bool& is_old_;
};

}  // namespace hostler::dispatch
