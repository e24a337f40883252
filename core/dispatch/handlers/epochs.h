#pragma once

#include "core/dispatch/handlers/restore.h"
#include "core/dispatch/state/plan_state.h"

namespace hostler::dispatch {

/// Compares the epochs in the tags of instances with the one of the rows. Tags are written with the
/// credentials of the cloud's account, so a job or a host cannot write them, but a driver can:
/// while the state folder knows the rows, what one of several sets shows stops that set alone.
class Epochs {
 public:
  Epochs(Sets& sets, Hosts& hosts, PlanState& plan, Recorder& recorder, Restore& restore,
         bool& is_old)
      : sets_(sets),
        hosts_(hosts),
        plan_(plan),
        recorder_(recorder),
        restore_(restore),
        is_old_(is_old) {}

  /// A list, before anything else is made of it. Where it stops its set, an error takes its place.
  /// False: the rows are old, nothing is done any more.
  bool compare(SetListed& event, Now now);

 private:
  [[nodiscard]] const model::ListedInstance* latest(const Set& set,
                                                    const model::ListedInstances& list) const;
  [[nodiscard]] std::uint64_t rows_end(const Set& set) const;
  /// The site is old, or the set is stopped.
  void found(Set& set, const model::ListedInstance& latest, Now now);
  void take_first(std::uint32_t set, Now now);
  /// The set is stopped from now on, or is not any more.
  void changed(const Set& set, model::Event event, const std::string& text, Now now);

  Sets& sets_;
  Hosts& hosts_;
  PlanState& plan_;
  Recorder& recorder_;
  Restore& restore_;
  bool& is_old_;
};

}  // namespace hostler::dispatch
