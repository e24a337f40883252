// Group H, second part: the kit stands between the driver and its cloud, and does harm. The driver
// must make no second machine, believe no half of a list, and say what is unknown.
#include "sdk/check/groups/broken_cloud.h"
#include "sdk/check/groups/machines.h"
#include "sdk/check/host/refusal.h"
#include "sdk/check/host/waiting.h"

namespace hostler::check {
namespace {

constexpr int kExchangesMax = 12;

const char* name_of(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::kLoseReply:
      return "when a reply was lost";
    case Fault::Kind::kCut:
      return "when a reply was cut";
    case Fault::Kind::kReplace:
      return "when a reply made no sense";
    default:
      return "when a connection was broken";
  }
}

/// How many machines of the key the list shows, once there is one.
std::size_t shown_machines(Context& c, BrokenCloud& broken, const std::string& key) {
  std::size_t count = 0;
  (void)is_shown(c, broken.session(),
                 [&] { return (count = broken.session().of_key(key).size()) > 0; });
  return count;
}

/// A create while this happens to one exchange of it. False: the create has fewer exchanges.
bool break_create(Context& c, BrokenCloud& broken, Fault::Kind kind, int number) {
  const auto request = broken.session().request();
  broken.session().await_room();  // the fault is to happen to the create
  broken.arm({.kind = kind,
              .first = number,
              .once = true,
              .answer = broken.is_http() ? http_answer("200 OK", kNonsense) : kNonsense});
  const auto made = broken.session().create(request);
  const bool happened = broken.has_happened();
  broken.disarm();
  if (!happened) return false;
  const std::string what = name_of(kind);
  const bool is_there = !broken.session().of_key(request.idempotency_key).empty();
  if (!made && is_there && !made.error().outcome_unknown)
    c.findings.fail("R24", "create",
                    what +
                        ", the machine exists, and the error has no "
                        "HOSTLER_EF_OUTCOME_UNKNOWN");
  const auto again = broken.session().create(request);
  if (!again && is_refusal(again.error().cls))
    return report_refusal(c, "create", again.error()), true;
  if (!made && made.error().cls == model::CloudErrorClass::kQuota)
    report_refusal(c, "create", made.error());  // there is room by now
  else if (!made && !is_temporary(made.error().cls) && !c.findings.has_failed())
    c.findings.fail(
        "R23", "create",
        what + ": " + to_string(made.error().cls) + ", not TRANSIENT: " + made.error().message);
  if (!again)
    c.findings.fail("R32", "create",
                    "the same request again, " + what + ": " + again.error().message);
  else if (shown_machines(c, broken, request.idempotency_key) > 1)
    c.findings.fail("R32", "create", "made two machines of one key, " + what);
  if (again)  // one machine at a time: it may be a real one
    (void)broken.session().destroy(again->id);
  return true;
}

template <Fault::Kind kind>
void break_creates(Context& c, BrokenCloud& broken) {
  for (int number = 0; number < kExchangesMax && !c.stops && !c.findings.has_failed(); ++number)
    if (!break_create(c, broken, kind, number)) {
      if (number == 0) c.findings.skip("a create does not go through the endpoint");
      return;
    }
}

/// In the author's account.
void lose_live_replies(Context& c) {
  if (c.settings.endpoints.empty()) return c.findings.skip_without_cloud(kNoEndpoint);
  behind_proxies<break_creates<Fault::Kind::kLoseReply>>(c);
}

void break_lists(Context& c, BrokenCloud& broken) {
  const auto made = make_listed_machine(c, broken.session());
  if (!made) return;
  const std::pair<Fault::Kind, const char*> faults[]{{Fault::Kind::kLoseReply, "a reply is lost"},
                                                     {Fault::Kind::kReset, "a connection breaks"},
                                                     {Fault::Kind::kCut, "a reply is cut"}};
  for (const auto& [kind, what] : faults)
    for (int number = 0; number < kExchangesMax && !c.stops; ++number) {
      broken.arm({.kind = kind, .first = number, .once = true, .answer = {}});
      if (!expect_complete(c, broken, made->id, what)) break;
    }
}

}  // namespace

void add_fault_tests(std::vector<Test>& to) {
  using enum Needs;
  using enum Fault::Kind;
  to.push_back({"fault.lost_reply", 'H', 2, kEndpoint,
                "a create whose reply is lost makes one machine, and its error has OUTCOME_UNKNOWN",
                &behind_proxies<break_creates<kLoseReply>>});
  to.push_back({"fault.reset", 'H', 2, kEndpoint, "the same for a create whose connection breaks",
                &behind_proxies<break_creates<kReset>>});
  to.push_back({"fault.cut_reply", 'H', 2, kEndpoint, "the same for a create whose reply is cut",
                &behind_proxies<break_creates<kCut>>});
  to.push_back({"fault.false_reply", 'H', 2, kEndpoint,
                "the same for a create whose reply cannot be read",
                &behind_proxies<break_creates<kReplace>>});
  to.push_back({"fault.list", 'H', 2, kEndpoint, "a list that is broken off is an error",
                &behind_proxies<break_lists>});
  add_answer_tests(to);
}

void add_live_fault_tests(std::vector<Test>& to) {
  to.push_back({"live.lost_reply", 'I', 3, Needs::kLive,
                "a create whose reply is lost makes one machine", &lose_live_replies});
}

}  // namespace hostler::check
