// Group H, second part: the kit stands between the driver and its cloud, and does harm. The driver
// must make no second machine, believe no half of a list, and say what is unknown.
#include <algorithm>
#include <chrono>
#include <optional>

#include "core/base/units.h"
#include "sdk/check/host/session.h"
#include "sdk/check/host/waiting.h"
#include "sdk/check/proxy/fault_proxy.h"

namespace hostler::check {
namespace {

using model::CloudErrorClass;
using model::CloudState;
using std::chrono::steady_clock;

constexpr int kExchangesMax = 12;
constexpr Duration kSettle = std::chrono::milliseconds(20), kShown = std::chrono::seconds(10);

/// "http://127.0.0.1:8080/path" in its parts. "127.0.0.1:8080" has neither scheme nor path.
struct Url {
  std::string scheme, host, port, path;
};

std::optional<Url> read_url(const std::string& text) {
  const auto scheme = text.find("://");
  const bool has_scheme = scheme != std::string::npos;
  Url out{has_scheme ? text.substr(0, scheme) : "", {}, {}, {}};
  const std::string rest = has_scheme ? text.substr(scheme + 3) : text;
  const auto slash = std::min(rest.find('/'), rest.size());
  out.path = rest.substr(slash);
  const std::string where = rest.substr(0, slash);
  const auto colon = where.rfind(':');
  if (!has_scheme && colon == std::string::npos) return std::nullopt;
  out.host = where.substr(0, colon);
  out.port =
      colon == std::string::npos ? (out.scheme == "https" ? "443" : "80") : where.substr(colon + 1);
  if (out.host.size() > 2 && out.host.front() == '[')
    out.host = out.host.substr(1, out.host.size() - 2);
  return out;
}

/// A session whose cloud is behind proxies.
struct Broken {
  explicit Broken(Context& c) : context(c) {
    if (!start_proxies()) return;
    const auto library = load_driver(c);
    if (library == nullptr) return;
    session = std::make_unique<Session>(c, library);
    if (!open()) session.reset();
  }

  bool start_proxies() {
    config_json = context.settings.config_json;
    for (const auto& key : context.settings.endpoints) {
      const auto url = read_url(text_at(config_json, key));
      if (!url) {
        context.findings.skip("the config has no address at " + key);
        return false;
      }
      auto proxy = FaultProxy::start(url->host, url->port);
      if (!proxy) {
        context.findings.fail("kit", "", proxy.error().message);
        return false;
      }
      is_http = is_http && url->scheme == "http";
      config_json = with_text(config_json, key,
                              (url->scheme.empty() ? "" : url->scheme + "://") +
                                  "127.0.0.1:" + std::to_string((*proxy)->port()) + url->path);
      proxies.push_back(*std::move(proxy));
    }
    return true;
  }

  bool open() {
    auto config = session->config();
    config.config_json = config_json;
    const auto opened = session->open(config);
    if (opened) return true;
    context.findings.fail("R34", "set_open",
                          "the set does not open through the proxy: " + opened.error().message);
    return false;
  }

  std::string key() { return session->new_key(); }
  void arm(const Fault& fault) {
    for (auto& proxy : proxies) proxy->arm(fault);
  }
  void disarm() { arm({}); }
  [[nodiscard]] bool has_happened() const {
    return std::any_of(proxies.begin(), proxies.end(),
                       [](const auto& proxy) { return proxy->has_happened(); });
  }
  [[nodiscard]] int exchanges() const {
    int sum = 0;
    for (const auto& proxy : proxies) sum += proxy->exchanges();
    return sum;
  }
  /// How many machines the list shows with the key; waits until there is one, if there should be.
  std::size_t count(const std::string& wanted, bool waits) {
    std::size_t found = 0;
    const auto look = [&] {
      found = 0;
      for (const auto& one : session->list().value_or(std::vector<model::ListedInstance>()))
        if (one.idempotency_key == wanted && one.state != CloudState::kGone) ++found;
      return found > 0 || !waits;
    };
    (void)comes_true(context, session->consistency() + kShown, kSettle, look);
    return found;
  }
  explicit operator bool() const { return session != nullptr; }

  Context& context;
  bool is_http = true;
  std::string config_json;
  std::vector<std::unique_ptr<FaultProxy>> proxies;  // outlive the session
  std::unique_ptr<Session> session;
};

bool is_passing(CloudErrorClass cls) {
  return cls == CloudErrorClass::kTransient || cls == CloudErrorClass::kTimeout;
}

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

std::string http(const std::string& head, const std::string& body) {
  return "HTTP/1.1 " + head + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

/// A create while this happens to one exchange of it. False: the create has fewer exchanges.
bool break_create(Broken& broken, Fault::Kind kind, int number) {
  Context& c = broken.context;
  const auto request = broken.session->request(broken.key());
  const std::string nonsense = "<html>Welcome to the hotel's network</html>\n";
  broken.arm({.kind = kind,
              .first = number,
              .once = true,
              .answer = broken.is_http ? http("200 OK", nonsense) : nonsense});
  const auto made = broken.session->create(request);
  const bool happened = broken.has_happened();
  broken.disarm();
  if (!happened) return false;
  const std::string what = name_of(kind);
  if (!made && !is_passing(made.error().cls) && !c.findings.has_failed())
    c.findings.fail(
        "R23", "create",
        what + ": " + to_string(made.error().cls) + ", not TRANSIENT: " + made.error().message);
  const auto there = broken.count(request.idempotency_key, false);
  if (!made && there > 0 && !made.error().outcome_unknown)
    c.findings.fail("R24", "create",
                    what +
                        ", the machine exists, and the error has no "
                        "HOSTLER_EF_OUTCOME_UNKNOWN");
  const auto again = broken.session->create(request);
  if (!again)
    c.findings.fail("R32", "create",
                    "the same request again, " + what + ": " + again.error().message);
  else if (broken.count(request.idempotency_key, true) > 1)
    c.findings.fail("R32", "create", "made two machines of one key, " + what);
  if (again)  // one machine at a time: it may be a real one
    (void)broken.session->end(again->id);
  return true;
}

void break_creates(Context& c, Fault::Kind kind) {
  Broken broken(c);
  if (!broken) return;
  for (int number = 0; number < kExchangesMax && !c.stops && !c.findings.has_failed(); ++number)
    if (!break_create(broken, kind, number)) {
      if (number == 0) c.findings.skip("a create does not go through the endpoint");
      return;
    }
}

/// In the author's account.
void lose_live_replies(Context& c) {
  if (c.settings.endpoints.empty())
    return c.findings.skip_without_cloud("no endpoint: the kit cannot stand between");
  break_creates(c, Fault::Kind::kLoseReply);
}

void lose_replies(Context& c) { break_creates(c, Fault::Kind::kLoseReply); }
void reset_connections(Context& c) { break_creates(c, Fault::Kind::kReset); }
void cut_replies(Context& c) { break_creates(c, Fault::Kind::kCut); }
void replace_replies(Context& c) { break_creates(c, Fault::Kind::kReplace); }

/// A list while something happens to it: it is complete, or an error. False: it has not happened,
/// as the list needs fewer exchanges.
bool expect_complete(Broken& broken, const std::string& id, const std::string& what) {
  Context& c = broken.context;
  const auto listed = broken.session->list();
  const bool happened = broken.has_happened();
  broken.disarm();
  if (!happened) return false;
  if (!listed) {
    if (!is_passing(listed.error().cls) && !c.findings.has_failed())
      c.findings.fail("R23", "list",
                      what + ": " + to_string(listed.error().cls) +
                          ", not TRANSIENT: " + listed.error().message);
    return true;
  }
  if (std::none_of(listed->begin(), listed->end(), [&](const auto& one) { return one.id == id; }))
    c.findings.fail("R33", "list", what + ": OK, without a machine that is there");
  return true;
}

void break_lists(Context& c) {
  Broken broken(c);
  if (!broken) return;
  const auto made = broken.session->create(broken.session->request(broken.key()));
  if (!made) return c.findings.fail("R23", "create", made.error().message);
  if (broken.count(made->idempotency_key, true) == 0 && !c.stops)
    return c.findings.fail("R33", "list", "does not show a machine that was made");
  const std::pair<Fault::Kind, const char*> faults[]{{Fault::Kind::kLoseReply, "a reply is lost"},
                                                     {Fault::Kind::kReset, "a connection breaks"},
                                                     {Fault::Kind::kCut, "a reply is cut"}};
  for (const auto& [kind, what] : faults)
    for (int number = 0; number < kExchangesMax && !c.stops; ++number) {
      broken.arm({.kind = kind, .first = number, .once = true, .answer = {}});
      if (!expect_complete(broken, made->id, what)) break;
    }
}

/// Answers of HTTP that no cloud should give, and that all do.
void give_wrong_answers(Context& c) {
  constexpr std::size_t kHuge = std::size_t{10} << 20U;
  Broken broken(c);
  if (!broken) return;
  if (!broken.is_http) return c.findings.skip("the endpoint is not http://, the kit cannot answer");
  const auto made = broken.session->create(broken.session->request(broken.key()));
  if (!made) return c.findings.fail("R23", "create", made.error().message);
  const std::pair<const char*, std::string> answers[]{
      {"500", http("500 Internal Server Error", "oops")},
      {"503", http("503 Service Unavailable", "<html>busy</html>")},
      {"an empty answer", http("200 OK", "")},
      {"a redirect", http("302 Found\r\nLocation: http://127.0.0.1:1/", "")},
      {"text that is no answer", http("200 OK", "<html>Welcome to the hotel's network</html>")},
      {"bytes that are no HTTP", std::string("\0\xff\xfe garbage\r\n\r\n", 15)},
      {"10 MiB", http("200 OK", std::string(kHuge, '['))}};
  for (const auto& [what, answer] : answers) {
    if (c.stops) return;
    broken.arm({.kind = Fault::Kind::kAnswer, .first = 0, .once = false, .answer = answer});
    (void)expect_complete(broken, made->id, std::string("the cloud answers with ") + what);
  }
}

/// What these mean is the provider's own affair: the kit only warns.
void refuse_requests(Context& c) {
  constexpr int kRequestsMax = 3;
  Broken broken(c);
  if (!broken) return;
  if (!broken.is_http) return c.findings.skip("the endpoint is not http://, the kit cannot answer");
  for (const char* status : {"401 Unauthorized", "403 Forbidden"}) {
    broken.arm(
        {.kind = Fault::Kind::kAnswer, .first = 0, .once = false, .answer = http(status, "{}")});
    const auto listed = broken.session->list();
    const int requests = broken.exchanges();
    broken.disarm();
    if (listed) c.findings.fail("R33", "list", std::string("is OK after ") + status);
    if (!listed && listed.error().cls != CloudErrorClass::kAuth)
      c.findings.warn("R23", "list",
                      std::string(status) + " is " + to_string(listed.error().cls) + ", not AUTH");
    if (requests > kRequestsMax)
      c.findings.warn("R23", "list", std::to_string(requests) + " requests after " + status);
  }
  broken.arm({.kind = Fault::Kind::kAnswer,
              .first = 0,
              .once = false,
              .answer = http("429 Too Many Requests\r\nRetry-After: 7", "{}")});
  const auto listed = broken.session->list();
  broken.disarm();
  if (listed) return c.findings.fail("R33", "list", "is OK after 429");
  if (listed.error().cls != CloudErrorClass::kRateLimit)
    return c.findings.warn(
        "R23", "list", std::string("429 is ") + to_string(listed.error().cls) + ", not RATE_LIMIT");
  const auto wait = listed.error().retry_after.value_or(Duration{});
  if (wait < std::chrono::seconds(6) || wait > std::chrono::seconds(8))
    c.findings.warn("R23", "list", "Retry-After: 7 has become " + format_duration(wait));
}

/// A cloud that says nothing: the call ends at its deadline.
void be_silent(Context& c) {
  constexpr Duration kDeadline = std::chrono::seconds(1), kLate = std::chrono::seconds(2);
  Broken broken(c);
  if (!broken) return;
  for (const bool hidden : {false, true}) {
    broken.arm({.kind = Fault::Kind::kSilence, .first = 0, .once = false, .answer = {}});
    Relay::get().pretend({.hides_deadline = hidden});
    broken.session->set_timeout(kDeadline);
    const auto began = steady_clock::now();
    const auto listed = broken.session->list();
    const Duration took = steady_clock::now() - began - kDeadline;
    broken.disarm();
    if (listed) return c.findings.fail("R33", "list", "is OK though the cloud says nothing");
    if (took > kLate)
      c.findings.warn(
          "R31", "list",
          "ends " + format_duration(took) + " after its " + (hidden ? "cancel" : "deadline"));
  }
}

}  // namespace

void add_fault_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"fault.lost_reply", 'H', 2, kEndpoint,
                "a create whose reply is lost makes one machine, and says that it may have",
                &lose_replies});
  to.push_back({"fault.reset", 'H', 2, kEndpoint, "a create whose connection breaks likewise",
                &reset_connections});
  to.push_back(
      {"fault.cut_reply", 'H', 2, kEndpoint, "a create whose reply is cut likewise", &cut_replies});
  to.push_back({"fault.false_reply", 'H', 2, kEndpoint,
                "a create whose reply makes no sense likewise", &replace_replies});
  to.push_back(
      {"fault.list", 'H', 2, kEndpoint, "a list that is broken off is an error", &break_lists});
  to.push_back({"fault.answers", 'H', 2, kEndpoint, "answers that make no sense are TRANSIENT",
                &give_wrong_answers});
  to.push_back({"fault.refusals", 'H', 2, kEndpoint,
                "refusals have the status that says what to do", &refuse_requests});
  to.push_back({"fault.silence", 'H', 2, kEndpoint,
                "a cloud that is silent costs no more than time", &be_silent});
}

void add_live_fault_tests(std::vector<Test>& to) {
  to.push_back({"live.lost_reply", 'I', 3, Needs::kLive,
                "a create whose reply is lost makes one machine", &lose_live_replies});
}

}  // namespace hostler::check
