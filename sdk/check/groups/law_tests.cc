// Group C, second part: what a request asks for and the driver cannot know (law 6).
#include "sdk/check/groups/begin.h"
#include "sdk/check/host/harmless_calls.h"

namespace hostler::check {
namespace {

using model::CloudErrorClass;

/// What a request with an unknown flag must end with, whatever else is wrong with it.
void expect_unsupported(Context& c, const char* call, const std::optional<model::CloudError>& got) {
  if (got && got->cls == CloudErrorClass::kUnsupported) return;
  if (c.findings.has_failed()) return;
  c.findings.fail(
      "R9", call,
      "what the request asks for is not defined, and it is answered " +
          (got ? std::string(to_string(got->cls)) + ": " + got->message : std::string("OK")) +
          ", not UNSUPPORTED");
}

void refuse_unknown_open(Context& c, const Library& library) {
  Relay::get().pretend({.asks_unknown_flag = true});
  Session session(c, library);
  expect_unsupported(c, "set_open", error_of(session.open(session.config())));
}

void refuse_unknown_flags(Context& c, Session& session) {
  Relay::get().pretend({.asks_unknown_flag = true});
  for (const auto& call : harmless_calls())
    if (is_there(call)) expect_unsupported(c, call.name, call.make(session, Session::kNobody));
  expect_unsupported(c, "destroy", error_of(session.destroy(Session::kNobody)));
}

void refuse_unknown_create(Context& c, Session& session) {
  const auto request = session.request();
  Relay::get().pretend({.asks_unknown_flag = true});
  expect_unsupported(c, "create", error_of(session.create(request)));
  Relay::get().pretend({.asks_unknown_market = true});
  expect_unsupported(c, "create", error_of(session.create(request)));
}

}  // namespace

void add_law_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"law.open", 'C', 1, kNothing, "an unknown flag in a config is UNSUPPORTED",
                &on_library<refuse_unknown_open>});
  to.push_back({"law.flags", 'C', 1, kNothing, "unknown flags of requests are UNSUPPORTED",
                &on_open_set<refuse_unknown_flags>});
  to.push_back({"law.create", 'C', 1, kMachines,
                "a create that asks for what is not defined is UNSUPPORTED",
                &on_open_set<refuse_unknown_create>});
}

}  // namespace hostler::check
