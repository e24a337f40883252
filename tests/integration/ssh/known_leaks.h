#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace hostler::test {

/// While it lives, what this thread allocates is not looked at for leaks. For what libssh2 1.10
/// leaks by itself: the old host key at each further key exchange (51 bytes), and the key's
/// numbers at each login with ecdsa (144 bytes).
class LeaksOfLibssh2 {
 public:
#ifdef __SANITIZE_ADDRESS__
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
