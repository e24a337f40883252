#pragma once

#include <string>

#include "core/fleet/step.h"

/// Inside fleet: what every change of state does.
namespace hostler::fleet {

/// Enters a state: journalled, its clock starts anew, no deadline until one is set.
void enter(Instance& instance, model::InstanceState state, Outcome& out, model::Event event,
           model::Reason code, const std::string& reason, Now now);

/// kStopped without our doing. Broken is what never comes up when it is switched on.
void stopped_by_itself(Instance& instance, const std::string& reason, Outcome& out, Now now);

/// Sets the deadline in memory and, as wall time, in the record.
void set_deadline(Instance& instance, Mono deadline, Now now);

}  // namespace hostler::fleet
