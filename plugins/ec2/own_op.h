#pragma once

#include <hostler/driver.hpp>
#include <mutex>

namespace hostler::ec2 {

/// An operation of the driver's own, for what several calls of the host need. It takes no records.
class OwnOp {
 public:
  OwnOp();
  OwnOp(const OwnOp&) = delete;
  OwnOp& operator=(const OwnOp&) = delete;

  hostler_op* op() { return &op_; }
  /// Ends what runs with it now and what begins later. From any thread.
  void cancel();

 private:
  struct Op : hostler_op {
    OwnOp* self = nullptr;
  };

  static OwnOp& of(const hostler_op* op) { return *static_cast<const Op*>(op)->self; }

  Op op_{};
  hostler_error error_{};
  std::recursive_mutex mutex_;   // on_cancel() may call its function at once
  bool is_cancelled_ = false;    // under mutex_
  void (*fn_)(void*) = nullptr;  // under mutex_
  void* arg_ = nullptr;          // under mutex_
};

}  // namespace hostler::ec2
