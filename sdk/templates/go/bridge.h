/* Between the table of driver.h and Go: what C calls, and what Go cannot call by itself. */
#ifndef BRIDGE_H
#define BRIDGE_H

#include <hostler/driver.h>

static inline int bridge_is_cancelled(const hostler_op* op) { return op->is_cancelled(op); }
static inline int bridge_emit(hostler_op* op, const void* record) {
  return op->emit(op, (const hostler_rec*)record);
}
static inline void bridge_set_text(hostler_op* op, uint32_t field, const char* s, size_t n) {
  op->error->set_text(op->error, field, s, n);
}

#endif
