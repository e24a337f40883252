#include "sdk/check/process/test_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <new>
#include <string>

#include "core/base/files.h"
#include "core/base/masked.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/log/log.h"
#include "sdk/check/host/hygiene.h"
#include "sdk/check/host/lent_memory.h"
#include "sdk/check/process/keeper.h"

namespace hostler::check {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kOutputMax = std::size_t{1} << 20U, kShownMax = 400;
constexpr Duration kCleanUpMax = std::chrono::minutes(1);
constexpr rlim_t kDescriptorsMax = 1024;

std::uint64_t seed_of(const Options& options, const Test& test) {
  return options.seed ^ fnv1a(test.name);
}

/// Runs the test, in whatever process this is.
void run_test(const Test& test, const Options& options, const Settings& settings,
              Findings& findings, const std::atomic<bool>& stops) {
  Context context{options, settings, findings, Random(seed_of(options, test)), secrets_of(settings),
                  stops};
  try {
    test.run(context);
    findings.finish();
  } catch (const std::exception& e) {
    findings.fail("kit", "", std::string("the kit itself has failed: ") + e.what());
    findings.finish();
  }
}

/// Makes the forked process one that a driver cannot harm the kit from.
void prepare_process(int output, Findings& findings) {
  (void)::setpgid(0, 0);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  (void)::dup2(null, STDIN_FILENO);
  (void)::dup2(output, STDOUT_FILENO);
  (void)::dup2(output, STDERR_FILENO);
  (void)::close_range(3, ~0U, 0);
  const rlimit no_core{0, 0}, descriptors{kDescriptorsMax, kDescriptorsMax};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  (void)::setrlimit(RLIMIT_NOFILE, &descriptors);
  log::turn_off();
  watch_descriptors();
  explain_crashes(findings);
}

/// The output of a test: the first part of it, and how much there was.
class Output {
 public:
  /// False: there is no more.
  bool read(int fd) {
    std::array<char, 65536> block{};
    const ssize_t n = ::read(fd, block.data(), block.size());
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    const auto size = static_cast<std::size_t>(n);
    text_.append(block.data(), std::min(size, kOutputMax - std::min(kOutputMax, text_.size())));
    return true;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Says how the process of the test has ended, where the test could not.
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

/// A live test waits for machines: for two boots and their end.
Duration time_for(const Test& test, const Options& options) {
  return options.timeout + (test.needs == Needs::kLive ? 3 * options.boot_max : Duration{});
}

void explain_timeout(Duration time, Findings& findings) {
  const std::string call = findings.last_call();
  const char* const rule = call == "load" ? "R2" : call == "set_close" ? "R25" : "R31";
  findings.fail(rule, call, "the test has not ended within " + format_duration(time));
}

/// A runtime that ends the process says so.
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

/// Waits for the end of the keeper and reads what the test writes. False: it took too long.
bool watch(pid_t keeper, int output_fd, Duration time, const std::atomic<bool>& stops,
           KeeperState& state, Output& output) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, keeper, 0)));
  auto until = steady_clock::now() + time;
  bool ends = false, has_output = true;
  for (;;) {
    if (stops && !state.stops.exchange(true)) until = steady_clock::now() + kCleanUpMax;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
    if (left <= 0 && !ends) {
      ends = true;
      (void)::kill(keeper, SIGTERM);
    }
    std::array<pollfd, 2> polled{{{process.get(), POLLIN, 0}, {output_fd, POLLIN, 0}}};
    // Wakes up for `stops` even where a signal came just before.
    const auto wait = ends ? 1000 : std::clamp<std::int64_t>(left, 1, 1000);
    (void)::poll(polled.data(), has_output ? 2 : 1, static_cast<int>(wait));
    if (polled[1].revents != 0) has_output = output.read(output_fd);
    if (polled[0].revents != 0) return !ends;
  }
}

TestOutcome outcome_of(const Test& test, const Findings& findings, const Output& output,
                       const std::vector<std::string>& secrets, steady_clock::time_point began) {
  TestOutcome out{test, Verdict::kPassed, findings.all(), {}, steady_clock::now() - began};
  for (auto& finding : out.findings) finding.text = masked(finding.text, secrets);
  out.verdict = verdict_of(out.findings);
  const std::string text = masked(output.text(), secrets);
  const auto from = text.size() - std::min(text.size(), kShownMax);
  out.output = printable(text.substr(from), kShownMax);
  return out;
}

}  // namespace

Verdict verdict_of(const std::vector<Finding>& findings) {
  const auto has = [&](Finding::Kind kind) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& one) { return one.kind == kind; });
  };
  if (has(Finding::Kind::kFail)) return Verdict::kFailed;
  if (has(Finding::Kind::kWarning)) return Verdict::kWarned;
  return has(Finding::Kind::kSkip) ? Verdict::kSkipped : Verdict::kPassed;
}

TestOutcome run_in_process(const Test& test, const Options& options, const Settings& settings,
                           const std::atomic<bool>& stops) {
  const auto began = steady_clock::now();
  const auto secrets = secrets_of(settings);
  Findings findings;
  Output output;
  void* const shared = ::mmap(nullptr, sizeof(KeeperState), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::array<int, 2> ends{-1, -1};
  if (shared == MAP_FAILED || ::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::bad_alloc();
  auto* const state = new (shared) KeeperState;
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t keeper = ::fork();
  if (keeper == 0)
    keep(*state, [&] {
      (void)::fcntl(writing.get(), F_SETFL, 0);  // what blocks for the driver is as it is elsewhere
      prepare_process(writing.get(), findings);
      run_test(test, options, settings, findings, state->stops);
    });
  writing.reset();
  if (keeper < 0) {
    findings.fail("kit", "", "the kit cannot start a process");
  } else {
    const bool in_time =
        watch(keeper, reading.get(), time_for(test, options), stops, *state, output);
    (void)::waitpid(keeper, nullptr, 0);
    while (output.text().size() < kOutputMax) {
      const auto before = output.text().size();
      if (!output.read(reading.get()) || output.text().size() == before) break;
    }
    if (in_time)
      explain_end(state->status, findings);
    else
      explain_timeout(time_for(test, options), findings);
    judge_output(output, secrets, findings);
  }
  (void)::munmap(shared, sizeof(KeeperState));
  return outcome_of(test, findings, output, secrets, began);
}

TestOutcome run_here(const Test& test, const Options& options, const Settings& settings) {
  const auto began = steady_clock::now();
  static const std::atomic<bool> kNever{false};
  Findings findings;
  log::turn_off();
  watch_descriptors();
  run_test(test, options, settings, findings, kNever);
  return outcome_of(test, findings, Output(), secrets_of(settings), began);
}

}  // namespace hostler::check
