#pragma once

#include "core/scheduler/world.h"

namespace hostler::scheduler {

/// Hosts of no use give way to work that could be bought now, were it not for a ceiling or the
/// quota of a cloud. Sets World::gives_way for just enough hosts to free the room, or for none if
/// they cannot free enough. Of no use are hosts that boot and that nothing waits for, and idle
/// hosts that fit nothing that waits, minimum and standby included. They give way to work that
/// hosts of their own pool would run. For a quota they must be of the same quota group, and have at
/// least the vcpus of the new host together. Room that ended hosts free soon is counted first.
/// After grow(). Looks at the 64 most urgent needs.
void give_way(World& world);

}  // namespace hostler::scheduler
