// driver-check: the conformance kit. `hostler driver check` runs it. See README.md.
#include <fnmatch.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/check/groups/broken_cloud.h"
#include "sdk/check/options.h"
#include "sdk/check/process/live_guard.h"
#include "sdk/check/process/test_process.h"
#include "sdk/check/report/report.h"

namespace hostler::check {
namespace {

constexpr int kGood = 0, kFailed = 1, kUsage = 2;

std::atomic<bool> stops{false};
const std::atomic<bool> kNever{false};

void on_signal(int /*signal*/) { stops = true; }

/// Ends the run as soon as it can; machines that were made are destroyed first.
void take_signals() {
  struct sigaction action {};
  action.sa_handler = &on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)::sigaction(signal, &action, nullptr);
  (void)::signal(SIGPIPE, SIG_IGN);
}

int complain(const Error& error) {
  std::fprintf(stderr, "driver-check: %s\n", error.message.c_str());
  return kUsage;
}

/// Why the test cannot run; empty: it can.
std::string why_skipped(const Test& test, const Options& options, const Settings& settings) {
  switch (test.needs) {
    case Needs::kNothing:
      return "";
    case Needs::kEndpoint:
      if (settings.endpoints.empty()) return kNoEndpoint;
      [[fallthrough]];
    case Needs::kMachines:
      if (settings.is_test_cloud) return "";
      return "it makes machines: if they cost nothing, set \"test_cloud\": true in "
             "driver-check.json or "
             "the file of --config";
    case Needs::kLive:
      return options.is_live ? "" : "only with --live";
  }
  return "";
}

int list_tests(const std::vector<Test>& tests) {
  for (const auto& test : tests)
    std::printf("%c L%d %-26s %s\n", test.group, test.level, test.name, test.promise);
  return kGood;
}

TestOutcome run_one(const Test& test, const Options& options, const Settings& settings) {
  if (auto reason = why_skipped(test, options, settings); !reason.empty())
    return {test,
            Verdict::kSkipped,
            {{Finding::Kind::kSkip, std::string(kNoCloud), "", std::move(reason)}},
            {},
            {}};
  return options.in_process ? run_here(test, options, settings)
                            : run_in_process(test, options, settings, stops ? kNever : stops);
}

/// Whether the test destroys what a live run has made: it runs in any case.
bool cleans_up(const Test& test) { return std::string_view(test.name) == "live.clean"; }

/// Destroys the machines of a test whose process has died, where machines may be made without
/// --live.
void clean_up_after(const TestOutcome& outcome, const Options& options, const Settings& settings) {
  const bool makes_machines =
      outcome.test.needs == Needs::kMachines || outcome.test.needs == Needs::kEndpoint;
  if (!outcome.has_died || !makes_machines || options.is_live) return;
  const auto tests = all_tests();
  Test clean = *std::find_if(tests.begin(), tests.end(), &cleans_up);
  clean.needs = Needs::kMachines;
  if (run_in_process(clean, options, settings, kNever).verdict == Verdict::kFailed)
    std::fputs((std::string("driver-check: after ") + outcome.test.name +
                " machines with the tag hostler-set=driver-check may be left\n")
                   .c_str(),
               stderr);
}

void run_tests(const std::vector<Test>& tests, const Options& options, const Settings& settings,
               RunReport& report) {
  const auto clean = std::find_if(tests.begin(), tests.end(), &cleans_up);
  std::optional<LiveGuard> guard;
  if (options.is_live && clean != tests.end()) guard.emplace(*clean, options, settings);
  for (const auto& test : tests) {
    if (stops && !cleans_up(test)) continue;
    add_outcome(report, run_one(test, options, settings));
    clean_up_after(report.outcomes.back(), options, settings);
    if (options.format != "text") continue;
    std::fputs(line_of(report.outcomes.back()).c_str(), stdout);
    std::fflush(stdout);
  }
  report.was_stopped = stops;
}

std::string end_of(const RunReport& report, const std::string& format) {
  if (format == "json") return json_of(report);
  return format == "junit" ? junit_of(report) : summary_of(report);
}

int check(Options options, const std::vector<Test>& tests) {
  // Tests may find themselves in another folder.
  options.library = std::filesystem::absolute(options.library);
  if (std::error_code none; !std::filesystem::exists(options.library, none))
    return complain({Errc::kNotFound, "there is no file " + options.library.string()});
  const auto settings = read_settings(options.library, options.config);
  if (!settings) return complain(settings.error());
  RunReport report{options.library.string(), options.seed, settings->quirks, {},
                   !options.only.empty(),    false};
  run_tests(tests, options, *settings, report);
  std::fputs(end_of(report, options.format).c_str(), stdout);
  return report.has_failed() || report.was_stopped ? kFailed : kGood;
}

bool has_name(const Test& test, const std::string& glob) {
  return ::fnmatch(glob.c_str(), test.name, 0) == 0;
}

/// Leaves the tests of --only. A name that no test has is an error.
Result<void> choose(std::vector<Test>& tests, const std::vector<std::string>& only) {
  for (const auto& glob : only)
    if (std::ranges::none_of(tests, [&](const Test& test) { return has_name(test, glob); }))
      return fail(Errc::kNotFound,
                  "--only " + glob + ": no test has such a name; see driver-check --list-tests");
  if (only.empty()) return {};
  std::erase_if(tests, [&](const Test& test) {
    return std::ranges::none_of(only, [&](const auto& glob) { return has_name(test, glob); });
  });
  return {};
}

int run(int argc, char** argv) {
  const auto options = read_options(argc, argv);
  if (!options) return complain(options.error());
  if (!*options) return std::fputs(help_text(), stdout), kGood;
  auto tests = all_tests();
  if (const auto chosen = choose(tests, (*options)->only); !chosen) return complain(chosen.error());
  if ((*options)->lists_tests) return list_tests(tests);
  take_signals();
  return check(**options, tests);
}

}  // namespace
}  // namespace hostler::check

int main(int argc, char** argv) {
  try {
    return hostler::check::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "driver-check: %s\n", error.what());
    return 1;
  }
}
