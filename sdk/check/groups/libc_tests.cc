// Groups G and H: a process that does not know the right time, or what a name stands for.
#include <chrono>
#include <string>

#include "core/base/units.h"
#include "sdk/check/faults/libc_faults.h"
#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/machines.h"
#include "sdk/check/proxy/url.h"

namespace hostler::check {
namespace {

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
      const auto listed = session.list();
      libc_faults.reset();
      if (session.took() > kDeadline + kLate)
        c.findings.fail("R31", "list", "takes " + format_duration(session.took()) + when);
      if (!listed) c.findings.note("list: " + listed.error().message + when);
      if (listed && !has_key(*listed, key))
        c.findings.fail("R33", "list", "is OK without a machine that is there" + when);
    }
}

void have_wrong_clock(Context& c, Session& session) {
  if (!can_fault_libc(c)) return;
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
  if (!can_fault_libc(c)) return;
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
  to.push_back({"libc.clock", 'G', 1, Needs::kMachines,
                "a wrong time of day makes no call hang, and no list incomplete",
                &on_open_set<have_wrong_clock>});
  to.push_back({"libc.names", 'H', 2, Needs::kEndpoint,
                "a name that cannot be resolved is TRANSIENT", &on_library<resolve_no_names>});
}

}  // namespace hostler::check
