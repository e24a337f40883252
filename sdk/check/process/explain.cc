#include "sdk/check/process/explain.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/masked.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace hostler::check {
namespace {

constexpr std::size_t kOutputMax = std::size_t{1} << 20U, kShownMax = 400;

}  // namespace

bool Output::read(int fd) {
  std::array<char, 65536> block{};
  const ssize_t n = ::read(fd, block.data(), block.size());
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  const auto size = static_cast<std::size_t>(n);
  text_.append(block.data(), std::min(size, kOutputMax - std::min(kOutputMax, text_.size())));
  return true;
}

void Output::read_rest(int fd) {
  while (text_.size() < kOutputMax) {
    const auto before = text_.size();
    if (!read(fd) || text_.size() == before) return;
  }
}

std::string Output::end(const std::vector<std::string>& secrets) const {
  const std::string shown = masked(text_, secrets);
  return printable(shown.substr(shown.size() - std::min(shown.size(), kShownMax)), kShownMax);
}

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
