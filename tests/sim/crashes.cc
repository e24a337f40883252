#include <utility>
#include <variant>

#include "tests/sim/world.h"

/// Days on which the driver dies in calls.
namespace hostler::sim {

void World::make_driver() {
  if (CrashingDriver::is_of(seed_))
    driver_.emplace(seed_, [this](const std::string& what) { complain(what); });
}

void World::load_driver() {
  if (!driver_) return;
  driver_->daemon_started(now());
  post(dispatch::DriverLoaded{"west", driver_->file()});
}

bool World::dies_in(const dispatch::Effect& effect) {
  const std::string call = driver_->call_of(effect);
  if (call.empty()) return false;
  if (!driver_->dies_in(call, chance_.faults())) return false;
  cloud_.driver_died();
  if (const auto* create = std::get_if<dispatch::CreateCall>(&effect);
      create != nullptr && driver_->was_done())
    cloud_.create(*create, [](Duration, const dispatch::Event&) {});
  auto report = CrashingDriver::report(effect, driver_->error(call), time_.now());
  time_.after(driver_->delay(),
              [this, call, generation = generation_, report = std::move(report)]() mutable {
                if (generation != generation_ || !kernel_) return;
                note("the driver dies in " + call);
                driver_->died_in(call, now());
                post(std::move(report));
              });
  return true;
}

/// An admin has had enough of waiting. Later ones are at most as long as the patience.
void World::open_gates_of_crashes() {
  if (!driver_ || over()) return;
  time_.after(10min, [this] { open_gates_of_crashes(); });
  if (!kernel_) return;
  for (const auto& gate : kernel_->queries().gates(now().mono)) {
    if (gate.cls != model::CloudErrorClass::kDriverCrashes) continue;
    driver_->forgive();
    post(dispatch::OpenGate{0, "admin", gate.key});
  }
}

}  // namespace hostler::sim
