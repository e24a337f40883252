#pragma once

#include "sdk/check/faults/libc_faults.h"
#include "sdk/check/groups/machines.h"
#include "sdk/check/host/session.h"

namespace hostler::check {

/// A test that begins with the loaded library.
template <void (*test)(Context&, const Library&)>
void on_library(Context& c) {
  if (const Library library = load_driver(c)) test(c, library);
}
/// A test that begins with an open set; without one it is skipped, or fails.
template <void (*test)(Context&, Session&)>
void on_open_set(Context& c) {
  const Library library = load_driver(c);
  if (library == nullptr) return;
  Session session(c, library);
  if (session.open_or_skip()) test(c, session);
}

/// A test that begins with a new machine; for on_open_set.
template <void (*test)(Context&, Session&, const model::ListedInstance&)>
void on_machine(Context& c, Session& session) {
  if (const auto made = make_machine(c, session)) test(c, session, *made);
}

/// Whether libc's functions can be made to fail. False: the test is skipped.
inline bool can_fault_libc(Context& c) {
  if (LibcFaults::are_available()) return true;
  c.findings.skip("this kit was built with a sanitizer, which has a malloc of its own");
  return false;
}

}  // namespace hostler::check
