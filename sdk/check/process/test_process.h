#pragma once

#include <atomic>

#include "sdk/check/process/outcome.h"

namespace hostler::check {

/// Runs the test in a process of its own, with a time limit and a bounded look at what it writes.
/// When it returns, nothing of what the test has started is left: where the kit may, the test is in
/// a pid namespace; else its process group and what the driver took out of it are ended. The same
/// happens when the kit itself is killed.
///
/// Blocks until the test has ended, options.timeout at most, without its waits for the cloud; a
/// live test may take three times options.boot_max more. When `stops` becomes true, the test is
/// told, and has a minute to clean up.
TestOutcome run_in_process(const Test& test, const Options& options, const Settings& settings,
                           const std::atomic<bool>& stops);

/// Runs it in this process: for a debugger.
TestOutcome run_here(const Test& test, const Options& options, const Settings& settings);

}  // namespace hostler::check
