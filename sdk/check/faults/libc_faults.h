#pragma once

#include <atomic>
#include <cstdint>

namespace hostler::check {

/// What goes wrong in libc while a driver runs. The program driver-check defines malloc(),
/// clock_gettime(), getaddrinfo() and the like itself, and the libraries that it loads use these
/// definitions. The Go runtime uses its own functions, so nothing goes wrong there. A build with a
/// sanitizer leaves the definitions out.
///
/// One in a process, `libc_faults`. Threads: any.
struct LibcFaults {
  /// The number of the allocation that fails, from 0, among those that threads make inside a
  /// function of the driver; -1: none.
  std::atomic<std::int64_t> failing_allocation{-1};
  std::atomic<std::int64_t> allocations{0};  ///< Inside the driver's functions, since reset().

  /// The time of day is wrong by so much, from the reading with this number on.
  std::atomic<std::int64_t> clock_error_s{0}, first_wrong_reading{0};
  std::atomic<std::int64_t> clock_readings{0};  ///< Of the whole process, since reset().

  std::atomic<bool> names_fail{false};       ///< No name can be resolved now (EAI_AGAIN).
  std::atomic<std::int64_t> names_asked{0};  ///< Since reset().

  /// Nothing goes wrong any more, and all counts are 0.
  void reset();
  static bool are_available();
};

extern LibcFaults libc_faults;

/// While it exists, this thread counts as being inside a function of the driver, or of the host.
class Inside {
 public:
  enum Side : bool { kHost = false, kDriver = true };
  explicit Inside(Side side);
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const Side before_;
};

}  // namespace hostler::check
