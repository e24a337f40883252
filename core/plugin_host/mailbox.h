#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace hostler::plugin_host {

/// Things for one thread to do, in order, or a nudge to look around. Posting takes no other lock,
/// so it may be done under any.
class Mailbox {
 public:
  using Item = std::function<void()>;

  void post(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    wake_.notify_one();
  }
  void nudge() {
    const std::lock_guard lock(mutex_);
    nudged_ = true;
    wake_.notify_one();
  }
  /// Waits for an item; without one returns when nudged, or at `until`.
  std::optional<Item> next(std::optional<std::chrono::steady_clock::time_point> until) {
    std::unique_lock lock(mutex_);
    const auto ready = [this] { return nudged_ || !items_.empty(); };
    if (until) {
      wake_.wait_until(lock, *until, ready);
    } else {
      wake_.wait(lock, ready);
    }
    nudged_ = false;
    if (items_.empty()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Item> items_;
  bool nudged_ = false;
};

}  // namespace hostler::plugin_host
