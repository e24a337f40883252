#include "core/agent/host/server/checks.h"

#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr std::int64_t kIntervalMinUs = 100'000;
constexpr std::uint64_t kIntervalMaxUs = std::uint64_t{86400} * 1'000'000;
constexpr std::size_t kTailMax = 1024;
constexpr std::size_t kOutputMax = 65536;
constexpr std::int64_t kRepeatUs =
    60'000'000;  ///< Until a notice that has not changed is reported again.

std::int64_t bounded(std::uint64_t us) {
  return std::max(kIntervalMinUs, static_cast<std::int64_t>(std::min(us, kIntervalMaxUs)));
}

}  // namespace

void Checks::configure(std::vector<Check> checks) {
  for (const State& state : states_) state.run.kill();
  states_.clear();
  for (Check& check : checks) states_.emplace_back().check = std::move(check);
}

void Checks::start(State& state) {
  // What a check complains of is no notice.
  const auto errors = state.check.kind == Check::Kind::kInterrupted
                          ? HostCommand::Errors::kDropped
                          : HostCommand::Errors::kWithOutput;
  (void)state.run.start({"/bin/sh", "-c", state.check.command}, errors,
                        boottime_us() + bounded(state.check.timeout_us), kOutputMax);
}

void Checks::tick() {
  const std::int64_t now = boottime_us();
  for (State& state : states_) {
    (void)state.run.kill_overdue(now);
    if (state.run.is_running() || now < state.next) continue;
    state.next = now + bounded(state.check.interval_us);
    start(state);
  }
}

void Checks::add_pids(std::set<pid_t>& out) const {
  for (const State& state : states_)
    if (state.run.is_running()) out.insert(state.run.pid());
}

std::int64_t Checks::due() const {
  std::int64_t out = INT64_MAX;
  for (const State& state : states_)
    out = std::min(out, state.run.is_running() ? state.run.due() : state.next);
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
                                  [pid](const State& state) { return state.run.pid() == pid; });
  if (found == states_.end()) return false;
  State& state = *found;
  const auto ended = state.run.finish(status);
  const std::string& text = ended.output;
  const bool zero = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !ended.timed_out;
  if (state.check.kind == Check::Kind::kInterrupted) {
    if (zero) on_notice_check(state, text, report);
    return true;
  }
  const bool bad = !zero;
  if (!std::exchange(state.bad, bad) && bad) {
    const std::string how = ended.timed_out ? "timeout"
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
