#pragma once

#include <atomic>
#include <memory>

namespace hostler {

/// A bound on what is open at the same time. Any thread.
class Places : public std::enable_shared_from_this<Places> {
 public:
  explicit Places(unsigned max) : max_(max) {}

  /// Takes so many for as long as the returned handle is kept. Null: there are not so many left.
  [[nodiscard]] std::shared_ptr<void> take(unsigned count = 1) {
    if (taken_.fetch_add(count) + count > max_) {
      taken_ -= count;
      return nullptr;
    }
    return {this, [self = shared_from_this(), count](void*) { self->taken_ -= count; }};
  }
  /// Those that are taken stay so.
  void set_max(unsigned max) { max_ = max; }

 private:
  std::atomic<unsigned> max_;
  std::atomic<unsigned> taken_{0};
};

}  // namespace hostler
