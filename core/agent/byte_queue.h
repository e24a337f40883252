#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hostler::agent {

/// Bytes on their way: they come at the end and go at the front.
class ByteQueue {
 public:
  /// Valid until the next call that changes the queue.
  [[nodiscard]] std::string_view bytes() const { return std::string_view(held_).substr(at_); }
  [[nodiscard]] std::size_t size() const { return held_.size() - at_; }
  /// For appending only.
  [[nodiscard]] std::string& end() { return held_; }
  /// At most size(). Memory is moved when less is left than has gone, so each byte once at most.
  void drop(std::size_t bytes) {
    at_ += bytes;
    if (at_ <= held_.size() / 2) return;
    held_.erase(0, at_);
    at_ = 0;
  }

 private:
  std::string held_;
  std::size_t at_ = 0;  ///< What is before it has gone.
};

}  // namespace hostler::agent
