// Group E: cancels and deadlines, at every moment.
#include <chrono>

#include "core/base/units.h"
#include "sdk/check/host/extra_calls.h"

namespace hostler::check {
namespace {

using std::chrono::steady_clock;

constexpr Duration kLatencyMax = std::chrono::seconds(2);
constexpr int kRounds = 40;
constexpr std::uint64_t kMomentMax = 30'000;  // microseconds

/// Calls each function, and says which ones take long.
void call_all(Context& c, Session& session, Duration from) {
  for (const auto& call : harmless_calls()) {
    if (c.stops || c.findings.has_failed()) return;
    if (call.extension != nullptr && !Relay::get().has(call.extension)) continue;
    const auto began = steady_clock::now();
    (void)call.make(session, "i-nobody");
    const Duration took = steady_clock::now() - began - from;
    if (took > kLatencyMax)
      c.findings.warn("R31", call.name, "ends " + format_duration(took) + " too late");
  }
}

void with_pretence(Context& c, const Pretence& pretence) {
  const auto library = load_driver(c);
  if (library == nullptr) return;
  Session session(c, library);
  if (!session.open_or_skip()) return;
  Relay::get().pretend(pretence);
  call_all(c, session, Duration{});
}

void cancel_before(Context& c) { with_pretence(c, {.is_cancelled = true}); }
void deadline_in_the_past(Context& c) { with_pretence(c, {.deadline_passed = true}); }

void open_cancelled(Context& c) {
  const auto library = load_driver(c);
  if (library == nullptr) return;
  for (const Pretence& pretence :
       {Pretence{.is_cancelled = true}, Pretence{.deadline_passed = true}}) {
    Relay::get().pretend(pretence);
    Session session(c, library);
    const auto began = steady_clock::now();
    (void)session.open(session.config());
    const Duration took = steady_clock::now() - began;
    if (took > kLatencyMax)
      c.findings.warn("R31", "set_open", "ends " + format_duration(took) + " too late");
    Relay::get().pretend({});
  }
}

/// The cancel comes at a random moment, and the driver does not know when.
void cancel_during(Context& c) {
  const auto library = load_driver(c);
  if (library == nullptr) return;
  Session session(c, library);
  if (!session.open_or_skip()) return;
  Relay::get().pretend({.hides_deadline = true});
  for (int round = 0; round < kRounds && !c.stops && !c.findings.has_failed(); ++round) {
    const Duration moment = std::chrono::microseconds(1 + c.random.below(kMomentMax));
    session.set_timeout(moment);
    call_all(c, session, moment);
  }
}

/// A create that is cancelled: at any moment the machine is there, or is not, and the same request
/// finds it.
void cancel_creates(Context& c) {
  const auto library = load_driver(c);
  if (library == nullptr) return;
  Session session(c, library);
  if (!session.open_or_skip()) return;
  const std::string prefix = "kit-" + std::to_string(c.random.next() % 1'000'000'000) + "-";
  for (int round = 0; round < 8 && !c.stops && !c.findings.has_failed(); ++round) {
    const auto request = session.request(prefix + std::to_string(round));
    Relay::get().pretend({.hides_deadline = true});
    session.set_timeout(std::chrono::microseconds(1 + c.random.below(kMomentMax)));
    (void)session.create(request);
    Relay::get().pretend({});
    session.set_timeout(c.options.deadline);
    const auto again = session.create(request);
    if (!again) {
      c.findings.fail("R32", "create",
                      "a create that was cancelled cannot be repeated: " + again.error().message);
      return;
    }
  }
}

/// emit() tells the driver to stop.
void stop_emits(Context& c) {
  const auto library = load_driver(c);
  if (library == nullptr) return;
  Session session(c, library);
  if (!session.open_or_skip()) return;
  const std::string prefix = "kit-" + std::to_string(c.random.next() % 1'000'000'000) + "-";
  for (int i = 0; i < 3; ++i) (void)session.create(session.request(prefix + std::to_string(i)));
  Relay::get().pretend({.records_max = 1});
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
                &open_cancelled});
  to.push_back({"cancel.before", 'E', 1, kNothing, "a call that is cancelled already ends at once",
                &cancel_before});
  to.push_back({"cancel.late", 'E', 1, kNothing, "a call whose deadline has passed ends at once",
                &deadline_in_the_past});
  to.push_back(
      {"cancel.during", 'E', 1, kNothing, "a cancel at any moment ends the call", &cancel_during});
  to.push_back({"cancel.create", 'E', 1, kMachines, "a create that was cancelled can be repeated",
                &cancel_creates});
  to.push_back({"cancel.emit", 'E', 1, kMachines, "a driver that is told to stop emits no more",
                &stop_emits});
}

}  // namespace hostler::check
