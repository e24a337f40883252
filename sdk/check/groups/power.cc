#include "sdk/check/groups/power.h"

namespace hostler::check {
namespace {

using model::CloudState;

/// Calls a function of the extension for power. False: the test has failed.
bool succeeds(Context& c, const char* name, const Session::Got<Session::Nothing>& done) {
  if (!done) c.findings.fail("R23", name, done.error().message);
  return done.has_value();
}

}  // namespace

void switch_off_and_on(Context& c, Session& session, const std::string& id,
                       const Reaches& reaches) {
  if (!succeeds(c, "stop", session.stop(id))) return;
  if (!reaches(CloudState::kStopped) && !c.stops)
    return c.findings.fail("R33", "list", "does not show a stopped machine as STOPPED");
  if (!succeeds(c, "start", session.start(id))) return;
  if (!reaches(CloudState::kRunning) && !c.stops)
    c.findings.fail("R33", "list", "does not show a started machine as RUNNING");
}

}  // namespace hostler::check
