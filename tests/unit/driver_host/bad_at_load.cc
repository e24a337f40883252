// A library that does what its macro says as soon as it is loaded.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

__attribute__((constructor)) void misbehave() {
  std::fputs("these are the last words\n", stderr);
#if defined(HOSTLER_CRASH)
  std::abort();
#elif defined(HOSTLER_EXIT)
  std::exit(0);
#elif defined(HOSTLER_HANG)
  for (;;) ::pause();
#endif
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const void* hostler_driver_entry_1(const void*) {
#if defined(HOSTLER_ENTRY)
  if (std::getenv("WEST_HOME") == nullptr) {
    std::fputs("WEST_HOME is not set\n", stderr);
    std::abort();
  }
#endif
  return nullptr;
}
