#pragma once

#if defined(__SANITIZE_ADDRESS__)  // gcc's word; clang has its own
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

/// While it lives, what this thread allocates is not looked at for leaks. For what libssh2 1.10
/// leaks by itself: the old host key at each further key exchange (51 bytes), and the key's
/// numbers at each login with ecdsa (144 bytes), and what it made for a key exchange that a server
/// breaks off at the wrong moment (152 bytes and more).
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
