#pragma once

#include <functional>

#include "sdk/check/host/session.h"

namespace hostler::check {

/// Whether a list shows the machine in this state, sooner or later.
using Reaches = std::function<bool(model::CloudState)>;

/// Switches a machine that runs off and on.
void switch_off_and_on(Context& c, Session& session, const std::string& id, const Reaches& reaches);

}  // namespace hostler::check
