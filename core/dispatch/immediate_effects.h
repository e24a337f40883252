#pragma once

#include <vector>

#include "core/dispatch/effects.h"

namespace hostler::dispatch {

/// Takes out of `outbox` the effects that depend on no commit, and returns them in their order:
/// MakePlan, ListCall, LookUpCall, PricesCall, ConsoleCall, WatchCall and OpenSet. They may be
/// executed at once, even while the store cannot commit. All other effects stay and leave after
/// their commit, and so does a WatchCall that says `after_commit`. A DrainCall must: the row before
/// it keeps a restart from running the command again.
///
/// This is safe, because these effects only read:
/// - Each answer comes back as an event. What it changes is a commit of its own, and commits become
///   durable in order. So every call that follows from the answer leaves after the changes that
///   the question was made from. If the daemon dies before that, the next one asks again.
/// - A plan only proposes. Applying it records intents, and their calls wait for their commit.
/// - A list can overtake a call that still waits for its commit. Its absence of an instance is no
///   evidence then, nor is the power state that it shows: the dispatcher ignores both while a call
///   of the instance is under way, and a call is under way from the moment that its effect is made.
[[nodiscard]] std::vector<Effect> take_immediate(Outbox& outbox);

}  // namespace hostler::dispatch
