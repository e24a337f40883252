// Group H, third part: the kit answers in place of the cloud, or lets it be silent.
#include <chrono>

#include "core/base/units.h"
#include "sdk/check/groups/broken_cloud.h"
#include "sdk/check/groups/machines.h"
#include "sdk/check/host/rate_limit.h"

namespace hostler::check {
namespace {

using model::CloudErrorClass;

constexpr const char* kNotHttp = "the endpoint is not http://, the kit cannot answer";

/// Answers of HTTP that no cloud should give, and that all do.
void give_wrong_answers(Context& c, BrokenCloud& broken) {
  constexpr std::size_t kHuge = std::size_t{10} << 20U;
  if (!broken.is_http()) return c.findings.skip(kNotHttp);
  const auto made = make_listed_machine(c, broken.session());
  if (!made) return;
  const std::pair<const char*, std::string> answers[]{
      {"500", http_answer("500 Internal Server Error", "oops")},
      {"503", http_answer("503 Service Unavailable", "<html>busy</html>")},
      {"an empty answer", http_answer("200 OK", "")},
      {"a redirect", http_answer("302 Found\r\nLocation: http://127.0.0.1:1/", "")},
      {"text that is no answer", http_answer("200 OK", kNonsense)},
      {"bytes that are no HTTP", std::string("\0\xff\xfe garbage\r\n\r\n", 15)},
      {"10 MiB", http_answer("200 OK", std::string(kHuge, '['))}};
  for (const auto& [what, answer] : answers) {
    if (c.stops) return;
    broken.answer_all(answer);
    (void)expect_complete(c, broken, made->id, std::string("the cloud answers with ") + what);
  }
}

void refuse_access(Context& c, BrokenCloud& broken) {
  constexpr int kRequestsMax = 3;
  for (const char* status : {"401 Unauthorized", "403 Forbidden"}) {
    broken.answer_all(http_answer(status, "{}"));
    const auto listed = broken.session().list();
    const int requests = broken.exchanges();
    broken.disarm();
    if (listed) c.findings.fail("R33", "list", std::string("is OK after ") + status);
    if (!listed && listed.error().cls != CloudErrorClass::kAuth)
      c.findings.warn("R23", "list",
                      std::string(status) + " is " + to_string(listed.error().cls) + ", not AUTH");
    if (requests > kRequestsMax)
      c.findings.warn("R23", "list", std::to_string(requests) + " requests after " + status);
  }
}

void limit_rate(Context& c, BrokenCloud& broken) {
  broken.answer_all(http_answer("429 Too Many Requests\r\nRetry-After: 7", "{}"));
  RateLimit::get().want_refusals(true);
  const auto listed = broken.session().list();
  RateLimit::get().want_refusals(false);
  broken.disarm();
  if (listed) return c.findings.fail("R33", "list", "is OK after 429");
  if (listed.error().cls != CloudErrorClass::kRateLimit)
    return c.findings.warn(
        "R23", "list", std::string("429 is ") + to_string(listed.error().cls) + ", not RATE_LIMIT");
  const auto wait = listed.error().retry_after.value_or(Duration{});
  if (wait < std::chrono::seconds(6) || wait > std::chrono::seconds(8))
    c.findings.warn("R23", "list", "Retry-After: 7 has become " + format_duration(wait));
}

/// What these mean is the provider's own affair: the kit only warns.
void refuse_requests(Context& c, BrokenCloud& broken) {
  if (!broken.is_http()) return c.findings.skip(kNotHttp);
  refuse_access(c, broken);
  limit_rate(c, broken);
}

/// A cloud that says nothing: the call ends at its deadline.
void be_silent(Context& c, BrokenCloud& broken) {
  constexpr Duration kDeadline = std::chrono::seconds(1), kLate = std::chrono::seconds(2);
  for (const bool hidden : {false, true}) {
    broken.arm({.kind = Fault::Kind::kSilence, .first = 0, .once = false, .answer = {}});
    Relay::get().pretend({.hides_deadline = hidden});
    broken.session().set_timeout(kDeadline);
    const auto listed = broken.session().list();
    const Duration late = broken.session().took() - kDeadline;
    broken.disarm();
    if (listed) return c.findings.fail("R33", "list", "is OK though the cloud says nothing");
    if (late > kLate)
      c.findings.warn(
          "R31", "list",
          "ends " + format_duration(late) + " after its " + (hidden ? "cancel" : "deadline"));
  }
}

}  // namespace

void add_answer_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"fault.answers", 'H', 2, kEndpoint, "answers that make no sense are TRANSIENT",
                &behind_proxies<give_wrong_answers>});
  to.push_back({"fault.refusals", 'H', 2, kEndpoint,
                "refusals have the status that says what to do", &behind_proxies<refuse_requests>});
  to.push_back({"fault.silence", 'H', 2, kEndpoint,
                "a call ends at its deadline if the cloud does not answer",
                &behind_proxies<be_silent>});
}

}  // namespace hostler::check
