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
#include "core/log/log.h"
#include "sdk/check/host/hygiene.h"
#include "sdk/check/host/lent_memory.h"
#include "sdk/check/process/explain.h"
#include "sdk/check/process/keeper.h"

namespace hostler::check {
namespace {

using std::chrono::steady_clock;

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

/// A live test waits for machines: for two boots, and until they are gone.
Duration time_for(const Test& test, const Options& options) {
  return options.timeout + (test.needs == Needs::kLive ? 3 * options.boot_max : Duration{});
}

/// Waits for the end of the keeper and reads all that the test writes. False: it took too long,
/// without its waits for the cloud.
bool watch(pid_t keeper, int output_fd, Duration time, const std::atomic<bool>& stops,
           const Findings& findings, KeeperState& state, Output& output) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, keeper, 0)));
  auto until = steady_clock::now() + time;
  bool ends = false, has_output = true;
  for (;;) {
    if (stops && !state.stops.exchange(true)) until = steady_clock::now() + kCleanUpMax;
    const auto waited = state.stops ? Duration{} : findings.waited();
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until + waited - steady_clock::now()).count();
    if (left <= 0 && !ends) {
      ends = true;
      (void)::kill(keeper, SIGTERM);
    }
    std::array<pollfd, 2> polled{{{process.get(), POLLIN, 0}, {output_fd, POLLIN, 0}}};
    // Wakes up for `stops` even where a signal came just before.
    const auto wait = ends ? 1000 : std::clamp<std::int64_t>(left, 1, 1000);
    (void)::poll(polled.data(), has_output ? 2 : 1, static_cast<int>(wait));
    if (polled[1].revents != 0) has_output = output.read(output_fd);
    if (polled[0].revents != 0) break;
  }
  (void)::waitpid(keeper, nullptr, 0);
  output.read_rest(output_fd);
  return !ends;
}

TestOutcome outcome_of(const Test& test, const Findings& findings, const Output& output,
                       const std::vector<std::string>& secrets, steady_clock::time_point began) {
  TestOutcome out{test, Verdict::kPassed, findings.all(), {}, steady_clock::now() - began};
  out.verdict = findings.has_failed() ? Verdict::kFailed : verdict_of(out.findings);
  out.output = output.end(secrets);
  out.waited = findings.waited();
  out.has_died = !findings.finished();
  return out;
}

}  // namespace

TestOutcome run_in_process(const Test& test, const Options& options, const Settings& settings,
                           const std::atomic<bool>& stops) {
  const auto began = steady_clock::now();
  const auto secrets = secrets_of(settings);
  Findings findings(secrets);
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
  if (keeper < 0)
    findings.fail("kit", "", "the kit cannot start a process");
  else if (watch(keeper, reading.get(), time_for(test, options), stops, findings, *state, output))
    explain_end(state->status, findings);
  else
    explain_timeout(time_for(test, options), findings);
  judge_output(output, secrets, findings);
  (void)::munmap(shared, sizeof(KeeperState));
  return outcome_of(test, findings, output, secrets, began);
}

TestOutcome run_here(const Test& test, const Options& options, const Settings& settings) {
  const auto began = steady_clock::now();
  static const std::atomic<bool> kNever{false};
  Findings findings(secrets_of(settings));
  log::turn_off();
  watch_descriptors();
  run_test(test, options, settings, findings, kNever);
  return outcome_of(test, findings, Output(), secrets_of(settings), began);
}

}  // namespace hostler::check
