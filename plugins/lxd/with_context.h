#pragma once

#include <hostler/driver.hpp>
#include <string>

#include "errors.h"

namespace hostler::lxd {

inline std::string text(const hostler_str& from) { return std::string(driver::view(from)); }

/// Runs `body`; what LXD refuses becomes an error that says what was tried.
template <class Body>
auto with_context(const std::string& what, const Body& body) {
  try {
    return body();
  } catch (const Refused& refused) {
    throw refusal_error(refused, what);
  }
}

}  // namespace hostler::lxd
