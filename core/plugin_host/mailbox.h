#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/mutex.h"

namespace hostler::plugin_host {

/// Things for one thread to do, in order, or a nudge to look around. Posting takes no other lock,
/// so it may be done under any.
class Mailbox {
 public:
  using Item = std::function<void()>;

  void post(Item item) {
    const MutexLock lock(mutex_);
    items_.push_back(std::move(item));
    wake_.notify_one();
  }
  void nudge() {
    const MutexLock lock(mutex_);
    nudged_ = true;
    wake_.notify_one();
  }
  /// Waits for an item; without one returns when nudged, or at `until`.
  std::optional<Item> next(std::optional<std::chrono::steady_clock::time_point> until) {
    const MutexLock lock(mutex_);
    const auto ready = [this]() HOSTLER_REQUIRES(mutex_) { return nudged_ || !items_.empty(); };
    if (until) {
      wake_.wait_until(mutex_, *until, ready);
    } else {
      wake_.wait(mutex_, ready);
    }
    nudged_ = false;
    if (items_.empty()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  Mutex mutex_;
  Condition wake_;
  std::deque<Item> items_ HOSTLER_GUARDED_BY(mutex_);
  bool nudged_ HOSTLER_GUARDED_BY(mutex_) = false;
};

}  // namespace hostler::plugin_host
