#include <algorithm>

#include "core/scheduler/plan.h"
#include "tests/sim/world.h"

/// What goes wrong on a day.
namespace hostler::sim {

void World::make_faults() {
  // Where look-ups lie too, only connections show which machines exist: they must hold.
  const bool ids_lie = chance_.chance(day_.ids_lie);
  if (ids_lie) cloud_.let_ids_lie();
  const auto some = [&](Range range) { return ids_lie ? 0 : chance_.in(range); };
  for (std::uint64_t n = some(day_.kills); n > 0; --n)
    time_.after(chance_.between(0s, day_.trouble), [this] { kill(); });
  for (std::uint64_t n = some(day_.machines_lost); n > 0; --n)
    time_.after(chance_.between(20s, day_.trouble), [this] { cloud_.misfortune(); });
  for (std::uint64_t n = some(day_.connections_lost); n > 0; --n)
    time_.after(chance_.between(20s, day_.trouble), [this] { hosts_.misfortune(); });
  for (std::uint64_t n = chance_.in(day_.spells); n > 0; --n)
    time_.after(chance_.between(20s, day_.trouble),
                [this] { cloud_.lie(chance_.between(5s, 1min)); });
  // After an old state is put back a host is asked which work it has: a liar can end that work.
  if (greed_.chance(day_.liars) && !has_old_state()) hosts_.let_them_lie();
  if (chance_.chance(day_.barren))
    time_.after(chance_.between(0s, day_.trouble),
                [this] { cloud_.be_barren(chance_.between(1min, 5min)); });
  for (std::uint64_t n = some(day_.partitions); n > 0; --n)
    time_.after(chance_.between(20s, day_.trouble),
                [this] { hosts_.partition(chance_.between(5s, 3min)); });
  for (std::uint64_t n = chance_.in(day_.clock_jumps); n > 0; --n)
    time_.after(chance_.between(0s, day_.trouble), [this] {
      wall_ahead_ += chance_.between(0s, 2h) - 1h;
      if (chance_.chance(0.5)) {
        mono_ahead_ += chance_.between(0s, 1min);               // The daemon slept.
        creates_until_ = std::max(creates_until_, now().mono);  // Some creates were decided before.
        // The probe timeout of one lost host may have passed before another host was missed.
        hosts_.give_up();
      }
      tick();
    });
  if (Cards::are_of(seed_)) {
    for (auto& type : policy_.types) Cards::add_to(type);
    Random random(seed_ ^ 0x6b05);
    for (std::uint64_t n = random.below(40); n > 0; --n)
      time_.after(Duration(static_cast<Duration::rep>(
                      random.below(static_cast<std::uint64_t>(day_.trouble.count())))),
                  [this] { hosts_.misfortune_of_cards(); });
  }
  time_.after(day_.trouble, [this] {
    calm_ = true;
    if (borrowers_) borrowers_->end();
    if (pushes_) pushes_->end_faults();
    chance_.end_faults();
    release_holds();
    settle_restored();
    open_gates_of_crashes();
    if (pool_days_.kind() != PoolDays::Kind::kTightMinimum) return close_down();
    time_.after(20min, [this] {
      if (kernel_) pool_days_.check_at_rest(kernel_->queries(), now());
      close_down();
    });
  });
}

/// A planner with a bug: whoever applies its plan, and the governor, stand against it.
void World::go_mad(scheduler::Plan& plan, const scheduler::Snapshot& snapshot) {
  const auto creates = plan.creates;
  for (int n = 0; n < 5; ++n)
    plan.creates.insert(plan.creates.end(), creates.begin(), creates.end());
  for (const auto& host : snapshot.hosts) {
    if (chance_.chance(0.5))
      plan.shutdowns.push_back({host.id, model::Reason::kIdle, "a mad plan"});
    if (chance_.chance(0.5)) plan.switch_offs.push_back({host.id, "a mad plan"});
  }
}

}  // namespace hostler::sim
