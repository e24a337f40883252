#include <algorithm>

#include "tests/sim/world.h"

/// Days on which lists do not come for a while, and on which single lists show machines that work
/// as stopped.
namespace hostler::sim {

void World::make_false_lists() {
  Random fate(seed_ * 2'654'435'761 + 31);
  if (fate.chance(0.2))
    for (auto n = 1 + fate.below(2); n > 0; --n) {
      const auto seconds = [&](std::uint64_t least, std::uint64_t most) {
        return std::chrono::seconds(least + fate.below(most - least));
      };
      const Duration spell = seconds(40, 180);
      time_.after(seconds(20, 360), [this, spell] { cloud_.hang(spell); });
    }
  // An old copy of the disk does not know what runs there: one list would be believed.
  if (fate.chance(0.2) && !has_old_state()) cloud_.show_as_stopped(fate);
}

/// The daemon hears of a good list.
void World::hear_list(const dispatch::SetListed& list) {
  const Duration took = now().mono - list.sent;
  creates_until_ =
      list.sent + std::max<Duration>(30s, 3 * std::max({policy_.sets[0].list_interval,
                                                        day_.list_interval_min, took}));
}

/// Some time passes until the intent of a create is durable.
void World::check_list_before_create(const dispatch::CreateCall& call) {
  if (now().mono > creates_until_ + 1s)
    complain(call.instance.text() + " is created, and the last good list is too old");
}

}  // namespace hostler::sim
