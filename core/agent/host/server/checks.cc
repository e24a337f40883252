#include "core/agent/host/server/checks.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/agent/host/system/launch.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr std::int64_t kIntervalMinUs = 100'000;
constexpr std::uint64_t kIntervalMaxUs = std::uint64_t{86400} * 1'000'000;
constexpr std::size_t kTailMax = 1024;
constexpr std::int64_t kRepeatUs =
    60'000'000;  ///< Until a notice that has not changed is reported again.

std::int64_t bounded(std::uint64_t us) {
  return std::max(kIntervalMinUs, static_cast<std::int64_t>(std::min(us, kIntervalMaxUs)));
}

}  // namespace

void Checks::configure(std::vector<Check> checks) {
  for (const State& state : states_)
    if (state.pid > 0) ::kill(-state.pid, SIGKILL);
  states_.clear();
  for (Check& check : checks) states_.emplace_back().check = std::move(check);
}

void Checks::start(State& state) {
  // The output stays in the pipe until the command ends. A command that prints more than the pipe
  // holds blocks and runs into its timeout.
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  state.output.reset(ends[0]);
  const UniqueFd in = open_null();
  const UniqueFd out(ends[1]);
  Launch shell;
  shell.command = {"/bin/sh", "-c", state.check.command};
  shell.folder = "/";
  shell.stdin_fd = in.get();
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  shell.stdout_fd = shell.stderr_fd = out.get();
  // What a check complains of is no notice.
  if (state.check.kind == Check::Kind::kInterrupted && nowhere) shell.stderr_fd = nowhere.get();
  const auto pid = launch(shell);
  state.pid = pid ? *pid : 0;
  state.timed_out = false;
  state.kill_at = boottime_us() + bounded(state.check.timeout_us);
}

void Checks::tick() {
  const std::int64_t now = boottime_us();
  for (State& state : states_) {
    if (state.pid > 0 && now >= state.kill_at) {
      state.timed_out = true;
      state.kill_at = INT64_MAX;
      ::kill(-state.pid, SIGKILL);
    }
    if (state.pid > 0 || now < state.next) continue;
    state.next = now + bounded(state.check.interval_us);
    start(state);
  }
}

void Checks::add_pids(std::set<pid_t>& out) const {
  for (const State& state : states_)
    if (state.pid > 0) out.insert(state.pid);
}

std::int64_t Checks::due() const {
  std::int64_t out = INT64_MAX;
  for (const State& state : states_)
    out = std::min(out, state.pid > 0 ? state.kill_at : state.next);
  return out;
}

void Checks::on_notice_check(State& state, std::string_view text,
                             const std::function<void(Finding&&)>& report) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::string said = printable(text.substr(0, kTailMax), kTailMax);
  // Repeated now and then: a notice without a time is over when nobody repeats it.
  const std::int64_t repeat_after = kRepeatUs / bounded(state.check.interval_us);
  if (state.said == said && (said.empty() || ++state.unchanged < repeat_after)) return;
  state.unchanged = 0;
  state.said = said;
  report({state.check.name, std::move(said), state.check.kind});
}

bool Checks::on_exit(pid_t pid, int status, const std::function<void(Finding&&)>& report) {
  const auto found = std::find_if(states_.begin(), states_.end(),
                                  [pid](const State& state) { return state.pid == pid; });
  if (found == states_.end()) return false;
  State& state = *found;
  state.pid = 0;
  std::string text(65536, '\0');
  const ssize_t n = ::read(state.output.get(), text.data(), text.size());
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  state.output.reset();
  const bool zero = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !state.timed_out;
  if (state.check.kind == Check::Kind::kInterrupted) {
    if (zero) on_notice_check(state, text, report);
    return true;
  }
  const bool bad = !zero;
  if (!std::exchange(state.bad, bad) && bad) {
    const std::string how = state.timed_out ? "timeout"
                            : WIFSIGNALED(status)
                                ? "signal " + std::to_string(WTERMSIG(status))
                                : "exit status " + std::to_string(WEXITSTATUS(status));
    const std::size_t cut = text.size() > kTailMax ? text.size() - kTailMax : 0;
    report(
        {state.check.name, how + ": " + printable(text.substr(cut), kTailMax), state.check.kind});
  }
  return true;
}

}  // namespace hostler::agent
