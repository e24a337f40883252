// Group G: credentials, and a process that has nothing left.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "sdk/check/groups/begin.h"
#include "sdk/check/groups/machines.h"

namespace hostler::check {
namespace {

/// With credentials that nobody accepts. They are looked for in all that the driver says.
void keep_false_credentials(Context& c) {
  Settings settings = c.settings;
  settings.credentials_json = false_credentials(c.settings.credentials_json);
  Context with_false{c.options, settings, c.findings, c.random, secrets_of(settings), c.stops};
  const auto library = load_driver(with_false);
  if (library == nullptr) return;
  Session session(with_false, library);
  const auto opened = session.open(session.config());
  if (opened) {
    c.findings.note("set_open does not refuse false credentials");
    (void)session.list();
    return;
  }
  if (is_temporary(opened.error().cls)) c.findings.note("set_open: " + opened.error().message);
}

bool has_secret(const Context& c, const std::string& text) {
  return std::ranges::any_of(
      c.secrets, [&](const std::string& secret) { return text.find(secret) != std::string::npos; });
}

/// The shell of the author may have them: the driver has not put them there.
void take_secrets_from_environment(const Context& c) {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    if (const std::string text = *variable; has_secret(c, text))
      names.push_back(text.substr(0, text.find('=')));
  for (const auto& name : names) (void)::unsetenv(name.c_str());
}

void keep_credentials(Context& c, Session& session) {
  (void)session.list();
  const auto look_for = [&](const char* where, const std::string& text) {
    if (has_secret(c, text))
      c.findings.fail("R42", "set_open", std::string("a credential is in ") + where);
  };
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    look_for("the environment", *variable);
  look_for("the arguments of the process",
           read_file("/proc/self/cmdline", std::size_t{1} << 20U).value_or(std::string()));
}

void keep_credentials_from_process(Context& c) {
  if (c.secrets.empty()) return c.findings.skip("there are no credentials");
  take_secrets_from_environment(c);
  on_open_set<keep_credentials>(c);
}

/// A call when no descriptor can be opened ends with an error, not with the process.
void have_no_descriptors(Context& c, Session& session) {
  rlimit before{};
  (void)::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{1, before.rlim_max};
  (void)::setrlimit(RLIMIT_NOFILE, &none);
  const auto listed = session.list();
  (void)::setrlimit(RLIMIT_NOFILE, &before);
  if (!listed) c.findings.note("list without descriptors: " + listed.error().message);
  if (const auto again = session.list(); !again && !c.findings.has_failed())
    c.findings.fail("R33", "list",
                    "fails after a time without descriptors: " + again.error().message);
}

}  // namespace

void add_secret_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"secrets.false", 'G', 1, kNothing, "credentials appear in no error and no log",
                &keep_false_credentials});
  to.push_back({"secrets.process", 'G', 1, kNothing,
                "credentials are not in what others see of the process",
                &keep_credentials_from_process});
  to.push_back({"process.descriptors", 'G', 1, kNothing,
                "a process without descriptors is an error, and it recovers",
                &on_open_set<have_no_descriptors>});
}

}  // namespace hostler::check
