#pragma once

#include <utility>

namespace hostler::fleet {

/// Events that are told once, although what they tell is seen again and again. A restart forgets
/// that they were told.
class Told {
 public:
  /// Its host did not report its work, so it is kept (InstanceRecord::restored). True: the first
  /// time.
  [[nodiscard]] bool kept() { return !std::exchange(kept_, true); }
  /// Its work is known: when it is kept again, that is told again.
  void work_known() { kept_ = false; }
  /// Its init command failed. True: the first time.
  [[nodiscard]] bool init_failed() { return !std::exchange(init_failed_, true); }

  [[nodiscard]] bool has_init_failed() const { return init_failed_; }

 private:
  bool kept_ = false, init_failed_ = false;
};

}  // namespace hostler::fleet
