#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/base/time.h"
#include "sdk/check/run/findings.h"
#include "sdk/check/settings.h"

namespace hostler::check {

/// How a run is made; the command line.
struct Options {
  std::filesystem::path library;
  std::filesystem::path config;
  std::string format = "text";
  std::vector<std::string> only;  ///< Names of tests, `*` is any text; empty: all.
  bool lists_tests = false;
  bool is_live = false;
  bool in_process = false;  ///< For a debugger: tests are not processes of their own.
  int budget = 3;           ///< Machines at once.
  std::uint64_t seed = 0;
  Duration deadline = std::chrono::seconds(30);  ///< Of a call.
  Duration patience = std::chrono::seconds(10);  ///< From a cancel until a call counts as hanging.
  Duration timeout = std::chrono::seconds(120);  ///< Of a test.
  Duration boot_max = std::chrono::minutes(10);  ///< Of a machine in a live run.
};

/// What a test gets. It runs in a process of its own.
struct Context {
  const Options& options;
  const Settings& settings;
  Findings& findings;
  Random random;
  std::vector<std::string> secrets;
  const std::atomic<bool>& stops;  ///< The run is being ended: destroy what was made, and return.
};

/// What a test needs beside the library. What is not there skips it, by name.
enum class Needs : std::uint8_t {
  kNothing,
  kMachines,  ///< A cloud in which machines may be made.
  kEndpoint,  ///< The same, and its address can be set: the kit stands between.
  kLive,      ///< --live.
};

struct Test {
  const char* name;  ///< "group.name"
  char group;        ///< A to J, as README.md has them.
  int level;         ///< 0 to 3: a failure means that this level is not reached.
  Needs needs;
  const char* promise;  ///< What holds of a driver that passes.
  void (*run)(Context&);
};

/// All of them, in the order in which they run.
std::vector<Test> all_tests();

// One for each file of groups/
void add_static_tests(std::vector<Test>& to);
void add_load_tests(std::vector<Test>& to);
void add_open_tests(std::vector<Test>& to);
void add_call_tests(std::vector<Test>& to);
void add_later_host_tests(std::vector<Test>& to);
void add_law_tests(std::vector<Test>& to);
void add_cancel_tests(std::vector<Test>& to);
void add_endurance_tests(std::vector<Test>& to);
void add_secret_tests(std::vector<Test>& to);
void add_memory_tests(std::vector<Test>& to);
void add_libc_tests(std::vector<Test>& to);
void add_recording_tests(std::vector<Test>& to);
void add_cloud_tests(std::vector<Test>& to);
/// Called by add_cloud_tests().
void add_tag_tests(std::vector<Test>& to);
void add_leftover_tests(std::vector<Test>& to);
void add_fault_tests(std::vector<Test>& to);
/// A part of those.
void add_answer_tests(std::vector<Test>& to);
void add_live_tests(std::vector<Test>& to);
/// A part of the live ones.
void add_live_fault_tests(std::vector<Test>& to);

}  // namespace hostler::check
