#pragma once

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

}  // namespace hostler::check
