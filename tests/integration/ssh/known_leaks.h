#pragma once

#if defined(__SANITIZE_ADDRESS__)  // gcc defines it; clang has __has_feature
#define HOSTLER_LOOKS_FOR_LEAKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOSTLER_LOOKS_FOR_LEAKS
#endif
#endif
#ifdef HOSTLER_LOOKS_FOR_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

namespace hostler::test {

/// While this object exists, the leak check ignores allocations of this thread. libssh2 1.10 leaks
/// the old host key at each further key exchange (51 bytes), numbers of the key at each login with
/// ecdsa (144 bytes), and the state of a key exchange that a server ends at certain moments (152
/// bytes and more).
class LeaksOfLibssh2 {
 public:
#ifdef HOSTLER_LOOKS_FOR_LEAKS
  LeaksOfLibssh2() { __lsan_disable(); }
  ~LeaksOfLibssh2() { __lsan_enable(); }
#else
  LeaksOfLibssh2() {}
  ~LeaksOfLibssh2() {}
#endif
  LeaksOfLibssh2(const LeaksOfLibssh2&) = delete;
  LeaksOfLibssh2& operator=(const LeaksOfLibssh2&) = delete;
};

}  // namespace hostler::test
