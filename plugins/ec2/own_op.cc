#include "own_op.h"

namespace hostler::ec2 {

OwnOp::OwnOp() {
  op_.self = this;
  op_.struct_size = sizeof(hostler_op);
  op_.error = &error_;
  error_.struct_size = sizeof error_;
  error_.set_text = [](hostler_error*, std::uint32_t, const char*, std::size_t) {};
  op_.is_cancelled = [](const hostler_op* op) -> std::int32_t {
    OwnOp& self = of(op);
    const std::lock_guard lock(self.mutex_);
    return self.is_cancelled_ ? 1 : 0;
  };
  op_.on_cancel = [](hostler_op* op, void (*fn)(void*), void* arg) {
    OwnOp& self = of(op);
    const std::lock_guard lock(self.mutex_);
    self.fn_ = fn;
    self.arg_ = arg;
    if (fn != nullptr && self.is_cancelled_) fn(arg);
  };
  op_.emit = [](hostler_op*, const hostler_rec*) -> std::int32_t { return 1; };
  op_.complete = [](hostler_op*, hostler_status) {};
}

void OwnOp::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  if (fn_ != nullptr) fn_(arg_);
}

}  // namespace hostler::ec2
