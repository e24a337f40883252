#include "core/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace hostler {

void invariant_broken(const char* condition, const char* invariant, const char* file, int line) {
  std::fprintf(stderr, "hostler: broken invariant: %s (%s; %s:%d)\n", invariant, condition, file,
               line);
  std::abort();
}

}  // namespace hostler
