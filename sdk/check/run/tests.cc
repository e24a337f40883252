#include "sdk/check/run/test.h"

namespace hostler::check {

std::vector<Test> all_tests() {
  std::vector<Test> tests;
  add_static_tests(tests);
  add_load_tests(tests);
  add_open_tests(tests);
  add_call_tests(tests);
  add_later_host_tests(tests);
  add_law_tests(tests);
  add_cancel_tests(tests);
  add_endurance_tests(tests);
  add_secret_tests(tests);
  add_memory_tests(tests);
  add_libc_tests(tests);
  add_cloud_tests(tests);
  add_fault_tests(tests);
  add_recording_tests(tests);
  add_live_tests(tests);
  return tests;
}

}  // namespace hostler::check
