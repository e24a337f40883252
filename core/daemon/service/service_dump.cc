#include <utility>

#include "core/daemon/service/admission.h"
#include "core/daemon/service/service.h"
#include "core/planning/write.h"

/// The request for a dump. The loop copies the state, the worker writes the snapshot, and the
/// server's threads the rest.
namespace hostler::daemon {
namespace {

/// All of one moment, but for the snapshot.
void add_state(api::DumpView& view, const dispatch::Queries& state, const DriverOf& driver,
               Now now) {
  view.time = now.wall;
  view.revision = state.revision();
  view.pools = state.pools();
  view.sets = sets_with_drivers(state, driver, now);
  view.instances = state.instances(now);
  view.gates = state.gates(now.mono);
  view.parts = state.dump_parts(now);
}

}  // namespace

void DaemonService::dump(const api::Principal&, api::Answer<api::DumpView> answer) {
  if (!admit(dumps_, 1, "dumps", answer)) return;
  api::DumpView view;
  view.version = HOSTLER_VERSION;
  view.conditions = site_conditions();
  uses_.loop->query([view = std::move(view), driver = uses_.driver, worker = uses_.worker,
                     answer = std::move(answer)](const dispatch::Queries& state, Now now) mutable {
    add_state(view, state, driver, now);
    auto look = state.look(now);
    if (!look) {  // The state is old: that is shown all the same.
      view.conditions.push_back(look.error().message);
      return answer(std::move(view));
    }
    const auto shared = std::make_shared<api::DumpView>(std::move(view));
    const bool taken = worker->post([shared, look = *std::move(look), answer, now] {
      shared->snapshot = planning::write_question(
          {.policy = *look.policy, .snapshot = *look.snapshot, .time = now.wall});
      answer(std::move(*shared));
    });
    if (!taken) answer(fail(Errc::kUnavailable, "too much is being computed now; ask again later"));
  });
}

}  // namespace hostler::daemon
