#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostler/driver.h"
#include "sdk/check/run/findings.h"

namespace hostler::check {

/// Memory that one call lends to the driver. Each piece ends where a page begins that nobody may
/// touch, so that a driver that reads on is caught (R10). When the object is destroyed, at the end
/// of the driver's function, nobody may touch the pieces either (R16).
///
/// Threads: one at a time.
class LentMemory {
 public:
  /// `call`: for messages, a literal. `later_bytes`: by how much growable structs are longer than
  /// the driver's header says, as those of a later host are.
  explicit LentMemory(const char* call, std::size_t later_bytes = 0);
  ~LentMemory();
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;

  /// A copy of the bytes, and `more` bytes of garbage behind them.
  void* lend(const void* bytes, std::size_t size, std::size_t more = 0);
  /// Host to driver, texts end with a NUL; an empty one has no pointer (law 5).
  hostler_str lend(const hostler_str& text);
  /// An array, null if it is empty.
  template <class T>
  const T* lend_array(const T* from, std::size_t n) {
    constexpr std::size_t kSize = sizeof(T);  // NOLINT(bugprone-sizeof-expression): also pointers
    return n == 0 ? nullptr : static_cast<const T*>(lend(from, n * kSize));
  }
  /// A growable struct.
  template <class T>
  T* lend_struct(T value) {
    value.struct_size = static_cast<std::uint32_t>(sizeof(T) + later_bytes_);
    return static_cast<T*>(lend(&value, sizeof(T), later_bytes_));
  }

 private:
  std::size_t later_bytes_;
  std::size_t slot_;
  char* next_;
};

/// From now on a signal handler explains accesses to lent memory, and others, in `findings`.
void explain_crashes(Findings& findings);

// Copies of requests, with all that they point to. They live as long as the memory.
const hostler_set_config* lend(LentMemory& memory, const hostler_set_config& from);
const hostler_create_req* lend(LentMemory& memory, const hostler_create_req& from);
const hostler_list_req* lend(LentMemory& memory, const hostler_list_req& from);
const hostler_destroy_req* lend(LentMemory& memory, const hostler_destroy_req& from);
const hostler_set_tags_req* lend(LentMemory& memory, const hostler_set_tags_req& from);
const hostler_set_info_req* lend(LentMemory& memory, const hostler_set_info_req& from);
const hostler_verify_req* lend(LentMemory& memory, const hostler_verify_req& from);
const hostler_price_req* lend(LentMemory& memory, const hostler_price_req& from);
const hostler_quota_group_req* lend(LentMemory& memory, const hostler_quota_group_req& from);
const hostler_power_req* lend(LentMemory& memory, const hostler_power_req& from);
const hostler_offerings_req* lend(LentMemory& memory, const hostler_offerings_req& from);
const hostler_interruption_req* lend(LentMemory& memory, const hostler_interruption_req& from);
const hostler_console_req* lend(LentMemory& memory, const hostler_console_req& from);
const hostler_leftover_list_req* lend(LentMemory& memory, const hostler_leftover_list_req& from);
const hostler_leftover_destroy_req* lend(LentMemory& memory,
                                         const hostler_leftover_destroy_req& from);
const hostler_images_req* lend(LentMemory& memory, const hostler_images_req& from);

}  // namespace hostler::check
