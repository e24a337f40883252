#pragma once

#include <cstdint>
#include <functional>

#include "hostler/driver.h"

namespace hostler::check {

/// What the kit pretends in a call, beyond what the host does.
struct Pretence {
  bool is_cancelled = false;       ///< From the beginning.
  bool deadline_passed = false;    ///< Likewise.
  bool hides_deadline = false;     ///< The driver learns of the end of its time by the cancel only.
  int records_max = -1;            ///< emit() tells the driver to stop after so many; -1: never.
  bool asks_unknown_flag = false;  ///< Each request has a flag that is not defined (law 6).
  bool asks_unknown_market = false;  ///< A create asks for a market that is not defined.
};

/// Gets what the driver does with an operation. Any thread.
struct OpEvents {
  std::function<void(const hostler_rec&)> on_record;  ///< One that the host has taken.
  std::function<void(const char* call, const char* text, std::size_t size)> on_text;
  /// "R27", and what it did.
  std::function<void(const char* rule, const char* call, const char* what)> on_fault;
};

/// A hostler_op of exactly the size that its struct_size says, in front of a page that nobody may
/// touch. Passes what the driver does on to the host's own operation. After its end it is used
/// again, but only after 255 others: a driver that uses it too late is found out by the host.
///
/// Threads: the callbacks on any.
class LentOp {
 public:
  /// For one call of the driver. `call` is a literal.
  static LentOp& lend(const char* call, hostler_op* host, const Pretence& pretence,
                      const OpEvents& events, std::size_t later_bytes);
  /// Whether a driver may use what it takes for an operation.
  static bool is_live(const hostler_op* op);

  [[nodiscard]] hostler_op* op() const { return op_; }
  /// The driver's function has returned this, or thrown: then INTERNAL.
  void returned(hostler_status status);

  LentOp(const LentOp&) = delete;
  LentOp& operator=(const LentOp&) = delete;

 private:
  LentOp();
  void begin(const char* call, hostler_op* host, const Pretence& pretence, const OpEvents& events,
             std::size_t later_bytes);
  void pass_error_on();
  [[nodiscard]] bool pretends_end() const {
    return pretence_.is_cancelled || pretence_.deadline_passed;
  }
  void check_end(hostler_status status);
  [[nodiscard]] bool is_over() const;

  static LentOp& of(const void* lent);
  static void set_text(hostler_error* e, std::uint32_t field, const char* s, std::size_t n);
  static std::int32_t is_cancelled(const hostler_op* op);
  static void on_cancel(hostler_op* op, void (*fn)(void*), void* arg);
  static std::int32_t emit(hostler_op* op, const hostler_rec* record);
  static void complete(hostler_op* op, hostler_status status);

  struct Pool;
  static Pool& pool();
  struct Shared;
  Shared* shared_;  ///< What several threads of the driver change.
  const char* call_ = "";
  hostler_op* host_ = nullptr;
  hostler_op* op_ = nullptr;
  hostler_error* error_ = nullptr;
  char *op_pages_, *error_pages_;
  Pretence pretence_;
  const OpEvents* events_ = nullptr;
};

}  // namespace hostler::check
