#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/mutex.h"

namespace hostler::daemon {

/// Calls the watchers of a key when somebody notifies it, on the thread that notifies. Any thread.
template <class Key>
class Notifier : public std::enable_shared_from_this<Notifier<Key>> {
 public:
  /// Calls `wake` for each notify(key) until the returned handle is destroyed; a call may still be
  /// under way then.
  std::shared_ptr<void> watch(Key key, std::function<void()> wake) {
    const MutexLock lock(mutex_);
    const std::uint64_t id = ++last_;
    watchers_[key].emplace(id, std::make_shared<std::function<void()>>(std::move(wake)));
    auto self = this->shared_from_this();
    return std::shared_ptr<void>(nullptr, [self, key, id](void*) { self->forget(key, id); });
  }

  void notify(const Key& key) {
    std::vector<std::shared_ptr<std::function<void()>>> called;
    {
      const MutexLock lock(mutex_);
      const auto found = watchers_.find(key);
      if (found == watchers_.end()) return;
      for (const auto& [id, wake] : found->second) called.push_back(wake);
    }
    for (const auto& wake : called) (*wake)();
  }

 private:
  void forget(const Key& key, std::uint64_t id) {
    const MutexLock lock(mutex_);
    const auto found = watchers_.find(key);
    if (found == watchers_.end()) return;
    found->second.erase(id);
    if (found->second.empty()) watchers_.erase(found);
  }

  Mutex mutex_;
  std::uint64_t last_ HOSTLER_GUARDED_BY(mutex_) = 0;
  std::map<Key, std::map<std::uint64_t, std::shared_ptr<std::function<void()>>>> watchers_
      HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::daemon
