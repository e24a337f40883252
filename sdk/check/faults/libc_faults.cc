#include "sdk/check/faults/libc_faults.h"

#include <dlfcn.h>
#include <netdb.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <ctime>

#ifdef HOSTLER_SANITIZED  // The runtime of a sanitizer has its own functions of these names.
#define HOSTLER_HAS_LIBC_FAULTS 0
#else
#define HOSTLER_HAS_LIBC_FAULTS 1
#endif

namespace hostler::check {
namespace {

constinit thread_local Inside::Side side_now = Inside::kHost;

}  // namespace

constinit LibcFaults libc_faults;

void LibcFaults::reset() {
  failing_allocation = -1;
  clock_error_s = first_wrong_reading = 0;
  names_fail = false;
  allocations = clock_readings = names_asked = 0;
}

bool LibcFaults::are_available() { return HOSTLER_HAS_LIBC_FAULTS != 0; }

Inside::Inside(Side side) : before_(side_now) { side_now = side; }
Inside::~Inside() { side_now = before_; }

namespace {

#if HOSTLER_HAS_LIBC_FAULTS

/// Counts an allocation. True: it is the one that fails.
bool allocation_fails() {
  if (side_now == Inside::kHost) return false;
  if (libc_faults.allocations++ != libc_faults.failing_allocation) return false;
  errno = ENOMEM;
  return true;
}

/// The time of day, wrong if it is to be.
int read_clock(clockid_t clock, timespec* out) {
  if (const long result = ::syscall(SYS_clock_gettime, clock, out); result != 0) return -1;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
    if (libc_faults.clock_readings++ >= libc_faults.first_wrong_reading)
      out->tv_sec += libc_faults.clock_error_s;
  return 0;
}

#endif

}  // namespace
}  // namespace hostler::check

#if HOSTLER_HAS_LIBC_FAULTS

#pragma GCC visibility push(default)  // for libraries that are loaded

// The names that glibc gives its own functions, for programs that define the usual ones.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

void* malloc(std::size_t size) noexcept {
  return hostler::check::allocation_fails() ? nullptr : __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  return hostler::check::allocation_fails() ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) noexcept {
  return hostler::check::allocation_fails() ? nullptr : __libc_realloc(memory, size);
}

int clock_gettime(clockid_t clock, timespec* out) noexcept {
  return hostler::check::read_clock(clock, out);
}

int gettimeofday(timeval* out, void* /*zone*/) noexcept {
  timespec now{};
  (void)hostler::check::read_clock(CLOCK_REALTIME, &now);
  *out = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

std::time_t time(std::time_t* out) noexcept {
  timespec now{};
  (void)hostler::check::read_clock(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** out) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto kNext = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  auto& faults = hostler::check::libc_faults;
  ++faults.names_asked;
  if (faults.names_fail || kNext == nullptr) return EAI_AGAIN;
  return kNext(name, service, hints, out);
}
}

#pragma GCC visibility pop

#endif
