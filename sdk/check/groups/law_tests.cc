// Group C, second part: what a request asks for and the driver cannot know (law 6).
#include "sdk/check/host/extra_calls.h"

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

template <class T>
std::optional<model::CloudError> failure_of(const model::CloudResult<T>& got) {
  if (got) return std::nullopt;
  return got.error();
}

void refuse_unknown_open(Context& c) {
  const auto library = load_driver(c);
  if (library == nullptr) return;
  Relay::get().pretend({.asks_unknown_flag = true});
  Session session(c, library);
  expect_unsupported(c, "set_open", failure_of(session.open(session.config())));
}

void refuse_unknown_flags(Context& c) {
  const auto library = load_driver(c);
  if (library == nullptr) return;
  Session session(c, library);
  if (!session.open_or_skip()) return;
  Relay::get().pretend({.asks_unknown_flag = true});
  for (const auto& call : harmless_calls())
    if (call.extension == nullptr || Relay::get().has(call.extension))
      expect_unsupported(c, call.name, call.make(session, "i-nobody"));
  expect_unsupported(c, "destroy",
                     failure_of(session.destroy(
                         {.id = "i-nobody", .expected_set_id = {}, .idempotency_key = {}})));
}

void refuse_unknown_create(Context& c) {
  const auto library = load_driver(c);
  if (library == nullptr) return;
  Session session(c, library);
  if (!session.open_or_skip()) return;
  const auto request = session.request("kit-law-" + std::to_string(c.random.next()));
  Relay::get().pretend({.asks_unknown_flag = true});
  expect_unsupported(c, "create", failure_of(session.create(request)));
  Relay::get().pretend({.asks_unknown_market = true});
  expect_unsupported(c, "create", failure_of(session.create(request)));
}

}  // namespace

void add_law_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"law.open", 'C', 1, kNothing, "an unknown flag in a config is UNSUPPORTED",
                &refuse_unknown_open});
  to.push_back({"law.flags", 'C', 1, kNothing, "unknown flags of requests are UNSUPPORTED",
                &refuse_unknown_flags});
  to.push_back({"law.create", 'C', 1, kMachines,
                "a create that asks for what is not defined is UNSUPPORTED",
                &refuse_unknown_create});
}

}  // namespace hostler::check
