#pragma once

namespace hostler {

/// Writes "hostler: broken invariant: ..." to standard error and aborts the process. Any thread.
[[noreturn]] void invariant_broken(const char* condition, const char* invariant, const char* file,
                                   int line);

}  // namespace hostler

/// Ends the process if `condition` is false, in release builds too. `invariant` is the sentence
/// that must always hold: HOSTLER_ASSERT(count > 0, "a class in the order has items"). Only for
/// conditions that depend on this program's own code. Input of a cloud, a host, a user, a config
/// file or the store never reaches an assertion: it is answered with an error.
#define HOSTLER_ASSERT(condition, invariant) \
  ((condition) ? static_cast<void>(0)        \
               : ::hostler::invariant_broken(#condition, invariant, __FILE_NAME__, __LINE__))
