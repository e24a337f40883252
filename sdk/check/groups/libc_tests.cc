// Groups G and H: what a process may lack for a while: memory, the right time, names.
#include <algorithm>
#include <chrono>
#include <string>

#include "core/base/units.h"
#include "sdk/check/faults/libc_faults.h"
#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/machines.h"
#include "sdk/check/proxy/url.h"

namespace hostler::check {
namespace {

using model::CloudState;
using std::chrono::steady_clock;

/// Skips the test where the driver cannot meet such a fault.
bool are_possible(Context& c) {
  if (LibcFaults::are_available()) return true;
  c.findings.skip("this kit was built with a sanitizer, which has a malloc of its own");
  return false;
}

bool has(const std::vector<model::ListedInstance>& machines, const std::string& key) {
  return std::any_of(machines.begin(), machines.end(), [&](const auto& one) {
    return one.idempotency_key == key && one.state != CloudState::kGone;
  });
}

/// At most `most` of the numbers from 0 to `count`, spread evenly.
std::vector<std::int64_t> spread(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> out;
  const std::int64_t n = std::min(count, most);
  for (std::int64_t i = 0; i < n; ++i) out.push_back(i * count / n);
  return out;
}

/// Lists while one allocation fails: the list is complete, or an error.
void list_without_memory(Context& c, Session& session, const std::string& key) {
  constexpr std::int64_t kTriesMax = 40;
  libc_faults.reset();
  (void)session.list();
  for (const std::int64_t number : spread(libc_faults.allocations, kTriesMax)) {
    libc_faults.reset();
    libc_faults.failing_allocation = number;
    const auto listed = session.list();
    libc_faults.reset();
    if (listed && !has(*listed, key))
      return c.findings.fail("R33", "list",
                             "is OK without a machine that is there, when allocation " +
                                 std::to_string(number) + " of the call had failed");
  }
}

/// Creates while one allocation fails. False: it has found something.
bool create_without_memory(Context& c, Session& session, std::int64_t number) {
  const auto request = session.request();
  libc_faults.reset();
  libc_faults.failing_allocation = number;
  const auto made = session.create(request);
  libc_faults.reset();
  const std::string when =
      ", when allocation " + std::to_string(number) + " of the call had failed";
  if (!made && !made.error().outcome_unknown && !session.of_key(request.idempotency_key).empty()) {
    c.findings.fail("R24", "create",
                    "the machine exists, and the error has no HOSTLER_EF_OUTCOME_UNKNOWN" + when);
    return false;
  }
  const auto again = session.create(request);
  if (!again || (made && again->id != made->id)) {
    c.findings.fail("R32", "create",
                    (again ? "made a second machine of one key"
                           : "the same request again: " + again.error().message) +
                        when);
    return false;
  }
  (void)session.destroy(again->id);
  return true;
}

void run_out_of_memory(Context& c, Session& session) {
  constexpr std::int64_t kTriesMax = 10;
  if (!are_possible(c)) return;
  libc_faults.reset();
  const auto made = make_machine(c, session);
  const std::int64_t in_create = libc_faults.allocations;
  if (!made) return;
  if (in_create == 0) return c.findings.skip("the driver takes no memory from libc in its calls");
  if (!expect_listed(c, session, *made)) return;
  c.findings.allow_crash();  // hostlerd starts another process
  list_without_memory(c, session, made->idempotency_key);
  for (const std::int64_t number : spread(in_create, kTriesMax)) {
    if (c.stops || c.findings.has_failed()) break;
    if (!create_without_memory(c, session, number)) break;
  }
  if (const auto listed = session.list(); !listed && !c.findings.has_failed())
    c.findings.fail("R23", "list",
                    "fails although there is memory again: " + listed.error().message);
}

/// Lists with a clock that is wrong, from the first or the second time on that it is read.
void list_at_wrong_time(Context& c, Session& session, const std::string& key) {
  constexpr Duration kDay = std::chrono::hours(24);
  constexpr Duration kLate = std::chrono::seconds(2);
  constexpr Duration kDeadline = std::chrono::seconds(10);
  session.set_timeout(kDeadline);
  for (const Duration error : {kDay, -kDay})
    for (const int first : {0, 1}) {
      if (c.stops || c.findings.has_failed()) return;
      const std::string when = std::string(", when the clock is a day ") +
                               (error < Duration{} ? "slow" : "fast") +
                               (first == 0 ? "" : " from the second time on that it is read");
      libc_faults.reset();
      libc_faults.first_wrong_reading = first;
      libc_faults.clock_error_s = std::chrono::duration_cast<std::chrono::seconds>(error).count();
      const auto began = steady_clock::now();
      const auto listed = session.list();
      const Duration took = steady_clock::now() - began;
      libc_faults.reset();
      if (took > kDeadline + kLate)
        c.findings.fail("R31", "list", "takes " + format_duration(took) + when);
      if (!listed) c.findings.note("list: " + listed.error().message + when);
      if (listed && !has(*listed, key))
        c.findings.fail("R33", "list", "is OK without a machine that is there" + when);
    }
}

void have_wrong_clock(Context& c, Session& session) {
  if (!are_possible(c)) return;
  const auto made = make_listed_machine(c, session);
  if (!made) return;
  list_at_wrong_time(c, session, made->idempotency_key);
}

/// The config with names in place of addresses of this computer; nothing: there are none.
std::optional<std::string> with_names(const Settings& settings) {
  std::string config = settings.config_json;
  bool has_any = false;
  for (const auto& key : settings.endpoints) {
    auto url = read_url(text_at(config, key));
    if (!url || url->host != "127.0.0.1") continue;
    url->host = "localhost";
    config = with_text(config, key, to_text(*url));
    has_any = true;
  }
  if (!has_any) return std::nullopt;
  return config;
}

void resolve_no_names(Context& c, const Library& library) {
  if (!are_possible(c)) return;
  const auto named = with_names(c.settings);
  if (!named)
    return c.findings.skip(
        "no endpoint is an address of 127.0.0.1, which could be named localhost");
  Session session(c, library);
  auto config = session.config();
  config.config_json = *named;
  if (const auto opened = session.open(config); !opened)
    return c.findings.skip("the set does not open by a name: " + opened.error().message);
  libc_faults.reset();
  libc_faults.names_fail = true;
  const auto listed = session.list();
  const bool was_asked = libc_faults.names_asked > 0;
  libc_faults.reset();
  if (!was_asked)
    return c.findings.skip(
        "a list resolves no name: the driver keeps the address or the connection of set_open, or "
        "its library asks the name server itself. There is nothing to do");
  if (listed) return c.findings.fail("R33", "list", "is OK though no name can be resolved");
  if (!is_temporary(listed.error().cls))
    c.findings.warn("R23", "list",
                    std::string("is ") + to_string(listed.error().cls) +
                        ", not TRANSIENT, when no name can be resolved: " + listed.error().message);
  if (const auto again = session.list(); !again)
    c.findings.fail("R23", "list",
                    "fails although names can be resolved again: " + again.error().message);
}

}  // namespace

void add_libc_tests(std::vector<Test>& to) {
  to.push_back({"libc.memory", 'G', 1, Needs::kMachines,
                "a call that gets no memory is an error, and loses no machine",
                &on_open_set<run_out_of_memory>});
  to.push_back({"libc.clock", 'G', 1, Needs::kMachines,
                "a wrong time of day makes no call hang, and no list incomplete",
                &on_open_set<have_wrong_clock>});
  to.push_back({"libc.names", 'H', 2, Needs::kEndpoint,
                "a name that cannot be resolved is TRANSIENT", &on_library<resolve_no_names>});
}

}  // namespace hostler::check
