#include "sdk/check/process/explain.h"

#include <signal.h>
#include <sys/wait.h>

#include <cstring>

#include "core/base/masked.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::check {
namespace {

constexpr std::size_t kShownMax = 400;

}  // namespace

void explain_end(int status, Findings& findings) {
  if (findings.finished()) return;
  const std::string call = findings.last_call();
  const bool loads = call == "load";
  const std::string rule = loads ? "R2" : "R44";
  if (findings.exit_status() >= 0)
    return findings.fail_at_end(rule, call,
                                "exit(" + std::to_string(findings.exit_status()) + ") was called");
  if (WIFEXITED(status))
    return findings.fail_at_end(
        rule, call, "the process ended, with the status " + std::to_string(WEXITSTATUS(status)));
  const int signal = WTERMSIG(status);
  if (signal == SIGABRT)
    return findings.fail_at_end(rule, call,
                                "abort() was called, or an exception left a function or a thread");
  findings.fail_at_end(loads ? "R2" : "crash", call,
                       "the process was ended by signal " + std::to_string(signal) + " (" +
                           ::strsignal(signal) + ")");
}

void explain_timeout(Duration time, Findings& findings) {
  const std::string call = findings.last_call();
  const char* const rule = call == "load" ? "R2" : call == "set_close" ? "R25" : "R31";
  findings.fail(rule, call, "the test has not ended within " + format_duration(time));
}

void judge_output(const Output& output, const std::vector<std::string>& secrets,
                  Findings& findings) {
  if (output.text().empty()) return;
  for (const auto& secret : secrets)
    if (output.text().find(secret) != std::string::npos)
      findings.fail("R42", "", "a credential is in what it wrote to stdout or stderr");
  findings.fail_at_end(
      "R41", "",
      "wrote to stdout or stderr: " + printable(masked(output.text(), secrets), kShownMax));
}

}  // namespace hostler::check
