#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/units.h"

namespace hostler::daemon {

/// Which parts of the last reload of the configuration were refused. It stays known until a reload
/// succeeds: who sent the signal may not have looked at the log. Any thread.
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
  /// The driver of a set has its settings and files as they are now.
  void set_succeeded(const std::string& set) {
    const MutexLock lock(mutex_);
    refused_sets_.erase(set);
  }
  void set_refused(const std::string& set, Wall at, const std::string& why) {
    const MutexLock lock(mutex_);
    refused_sets_[set] = "the reload at " + format_wall(at) + " of set " + set +
                         " was refused, and its driver from before is in use: " + why;
  }
  /// The driver of a set has its credentials from before; set_succeeded() ends that.
  void credentials_unread(const std::string& set, Wall at, const std::string& why) {
    const MutexLock lock(mutex_);
    refused_sets_[set] = "the credentials of set " + set + " could not be read again at " +
                         format_wall(at) + ", and those from before are in use: " + why;
  }
  /// Each one sentence for people; none if the last reload succeeded or there was none.
  [[nodiscard]] std::vector<std::string> problems() const {
    const MutexLock lock(mutex_);
    std::vector<std::string> out;
    if (refused_) out.push_back(*refused_);
    for (const auto& [set, problem] : refused_sets_) out.push_back(problem);
    return out;
  }
  [[nodiscard]] std::optional<std::string> problem_of(const std::string& set) const {
    const MutexLock lock(mutex_);
    const auto found = refused_sets_.find(set);
    if (found == refused_sets_.end()) return std::nullopt;
    return found->second;
  }

 private:
  mutable Mutex mutex_;
  std::optional<std::string> refused_ HOSTLER_GUARDED_BY(mutex_);
  std::map<std::string, std::string> refused_sets_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::daemon
