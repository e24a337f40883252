#pragma once

#include <hostler/driver.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api.h"
#include "own_op.h"
#include "workers.h"

namespace hostler::ec2 {

/// Ends instances. Calls of several threads at the same time become one request. From any thread.
class Terminator {
 public:
  Terminator(const Api& api, Workers& workers) : api_(api), workers_(workers) {}

  /// Blocks until EC2 has accepted it, the deadline of `op` or its cancel. OK if there is no such
  /// instance. Throws CONFLICT if it is of another set than `expected_set`, empty: of any.
  /// \param is_known EC2 is asked also while it does not show the instance.
  void end(const std::string& id, const std::string& expected_set, bool is_known, hostler_op* op);
  /// Ends the requests that run, whose callers have gone.
  void stop() { own_.cancel(); }

 private:
  struct Wish;
  using Wishes = std::vector<std::shared_ptr<Wish>>;

  void work();
  void fulfil(const Wishes& wishes);
  void check(const Wishes& wishes);
  void send(const Wishes& wishes);

  const Api& api_;
  Workers& workers_;
  OwnOp own_;  ///< Of all requests: one caller's cancel is not the others'.
  std::mutex mutex_;
  Wishes waiting_;           ///< Under mutex_.
  bool is_working_ = false;  ///< Under mutex_: somebody runs work().
};

}  // namespace hostler::ec2
