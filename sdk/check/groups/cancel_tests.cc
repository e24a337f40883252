// Group E: cancels and deadlines, at every moment.
#include <algorithm>
#include <chrono>

#include "core/base/units.h"
#include "sdk/check/groups/begin.h"
#include "sdk/check/host/harmless_calls.h"

namespace hostler::check {
namespace {

constexpr Duration kLatencyMax = std::chrono::seconds(2);
constexpr int kRounds = 40;
constexpr std::uint64_t kMomentMax = 30'000;  // microseconds

/// `late`: how long after its cancel or deadline the call has ended.
void judge_latency(Context& c, const char* call, Duration late) {
  if (late > kLatencyMax)
    c.findings.warn("R31", call, "ends " + format_duration(late) + " too late");
}

/// Calls each function, and says which ones take long. `time`: after it, each call has to end.
void call_all(Context& c, Session& session, Duration time) {
  for (const auto& call : harmless_calls()) {
    if (c.stops || c.findings.has_failed()) return;
    if (!is_there(call)) continue;
    (void)call.make(session, Session::kNobody);
    judge_latency(c, call.name, session.took() - time);
  }
}

void cancel_before(Context& c, Session& session) {
  Relay::get().pretend({.is_cancelled = true});
  call_all(c, session, Duration{});
}

void deadline_in_the_past(Context& c, Session& session) {
  Relay::get().pretend({.deadline_passed = true});
  call_all(c, session, Duration{});
}

void open_cancelled(Context& c, const Library& library) {
  for (const Pretence& pretence :
       {Pretence{.is_cancelled = true}, Pretence{.deadline_passed = true}}) {
    Relay::get().pretend(pretence);
    Session session(c, library);
    (void)session.open(session.config());
    judge_latency(c, "set_open", session.took());
    Relay::get().pretend({});
  }
}

/// The cancel comes at a random moment, and the driver does not know when.
void cancel_during(Context& c, Session& session) {
  Relay::get().pretend({.hides_deadline = true});
  for (int round = 0; round < kRounds && !c.stops && !c.findings.has_failed(); ++round) {
    const Duration moment = std::chrono::microseconds(1 + c.random.below(kMomentMax));
    session.set_timeout(moment);
    call_all(c, session, moment);
  }
}

/// A create that is cancelled: at any moment the machine is there, or is not, and the same request
/// finds it.
void cancel_creates(Context& c, Session& session) {
  for (int round = 0; round < 8 && !c.stops && !c.findings.has_failed(); ++round) {
    const auto request = session.request();
    Relay::get().pretend({.hides_deadline = true});
    session.set_timeout(std::chrono::microseconds(1 + c.random.below(kMomentMax)));
    (void)session.create(request);
    Relay::get().pretend({});
    session.set_timeout(c.options.deadline);
    const auto again = session.create(request);
    if (!again)
      return report_no_machine(c, again.error(), "R32",
                               "a create that was cancelled cannot be repeated");
    (void)session.destroy(*again);
  }
}

/// emit() tells the driver to stop.
void stop_emits(Context& c, Session& session) {
  const int machines = std::min(session.machines_max(), 3);
  for (int i = 0; i < machines; ++i)
    if (!make_machine(c, session)) return;
  Relay::get().pretend({.records_max = machines > 1 ? 1 : 0});
  const auto listed = session.list();
  Relay::get().pretend({});
  if (!listed && listed.error().cls != model::CloudErrorClass::kCancelled &&
      !c.findings.has_failed())
    c.findings.fail("R27", "list",
                    std::string("was told to stop and ended with ") +
                        to_string(listed.error().cls) + ", not CANCELLED");
}

}  // namespace

void add_cancel_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"cancel.open", 'E', 1, kNothing, "set_open ends when it is cancelled or too late",
                &on_library<open_cancelled>});
  to.push_back({"cancel.before", 'E', 1, kNothing, "a call that is cancelled already ends at once",
                &on_open_set<cancel_before>});
  to.push_back({"cancel.late", 'E', 1, kNothing, "a call whose deadline has passed ends at once",
                &on_open_set<deadline_in_the_past>});
  to.push_back({"cancel.during", 'E', 1, kNothing, "a cancel at any moment ends the call",
                &on_open_set<cancel_during>});
  to.push_back({"cancel.create", 'E', 1, kMachines, "a create that was cancelled can be repeated",
                &on_open_set<cancel_creates>});
  to.push_back({"cancel.emit", 'E', 1, kMachines, "a driver that is told to stop emits no more",
                &on_open_set<stop_emits>});
}

}  // namespace hostler::check
