#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/units.h"

namespace hostler::daemon {

/// Whether the last reload of the configuration was refused. It stays known until one succeeds: who
/// sent the signal may not have looked at the log. Any thread.
class ReloadStatus {
 public:
  void succeeded() {
    const MutexLock lock(mutex_);
    refused_.reset();
  }
  void refused(Wall at, const std::string& why) {
    const MutexLock lock(mutex_);
    refused_ = "the reload at " + format_wall(at) +
               " was refused, and the configuration from before is in use: " + why;
  }
  /// One sentence for people; nothing if the last reload succeeded or there was none.
  [[nodiscard]] std::optional<std::string> problem() const {
    const MutexLock lock(mutex_);
    return refused_;
  }

 private:
  mutable Mutex mutex_;
  std::optional<std::string> refused_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::daemon
