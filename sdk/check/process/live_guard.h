#pragma once

#include <sys/types.h>

#include "core/base/files.h"
#include "sdk/check/run/test.h"

namespace hostler::check {

/// A process that destroys what a live run has made if the kit itself is killed. It lives as long
/// as the object, and for the time that this takes.
class LiveGuard {
 public:
  /// `clean`: the test that destroys all that the kit has made.
  LiveGuard(const Test& clean, const Options& options, const Settings& settings);
  /// The kit has cleaned up itself.
  ~LiveGuard();
  LiveGuard(const LiveGuard&) = delete;
  LiveGuard& operator=(const LiveGuard&) = delete;

 private:
  UniqueFd life_;
  pid_t process_ = -1;
};

}  // namespace hostler::check
