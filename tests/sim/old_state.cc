#include <algorithm>
#include <utility>

#include "tests/sim/world.h"

/// An old copy of the disk is put back, and the daemon goes on from it with --restored.
namespace hostler::sim {

Random World::fate_of_disk() const { return Random(seed_ ^ 0x01d57a7e); }

bool World::has_old_state() const {
  return fate_of_disk().chance(day_.old_states) && day_.kills.high != 0;
}

/// Choices of its own, so that the rest of the day is as it was without it.
void World::make_old_state() {
  if (!has_old_state()) return;
  Random fate = fate_of_disk();
  (void)fate.chance(day_.old_states);
  const auto within = [&](Duration from, Duration until) {
    return from + Duration(static_cast<Duration::rep>(
                      fate.below(static_cast<std::uint64_t>((until - from).count()))));
  };
  const Duration backup = within(5s, day_.trouble / 2);
  const Duration loss = within(backup, day_.trouble * 3 / 4);
  time_.after(backup, [this] { backup_ = std::make_unique<Disk>(disk_); });
  time_.after(loss, [this] { lose_disk(); });
}

void World::lose_disk() {
  if (!backup_) return;
  if (kernel_) kill();
  note("an old copy of the disk is put back");
  if (driver_) driver_->forgive();  // The rows of its deaths are lost.
  disk_.put_back(*std::exchange(backup_, nullptr));
  hosts_.put_back();
  if (images_) images_->put_back(disk_.images());
  for (Wish& wish : wishes_)
    std::erase_if(wish.past, [&](const model::WorkId id) { return disk_.jobs().contains(id); });
}

/// The admin looks at the jobs that are held, and knows which of them ran; and ends the hosts that
/// do not report their work. Asked again, as in release_holds().
void World::settle_restored() {
  if (!disk_.was_put_back()) return;
  for (const auto& [id, row] : disk_.jobs()) {
    if (row.record.state != model::WorkState::kHeld) continue;
    if (hosts_.starts(id) == 0)
      post(dispatch::ReleaseWork{0, "admin", id});
    else
      post(dispatch::CancelWork{0, "admin", true, id});
  }
  for (const auto& [id, row] : disk_.instances())
    if (row.record.restored && row.record.state < model::InstanceState::kTerminating &&
        time_.now() >= Mono(24h) + day_.trouble + 10min)
      post(dispatch::KillInstance{0, "admin", id, "it does not report its work"});
  time_.after(1min, [this] { settle_restored(); });
}

}  // namespace hostler::sim
