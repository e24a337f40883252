#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hostler::agent {

/// A queue of bytes: appended at the end, removed from the front.
class ByteQueue {
 public:
  /// Valid until the next call that changes the queue.
  [[nodiscard]] std::string_view bytes() const { return std::string_view(buffer_).substr(at_); }
  [[nodiscard]] std::size_t size() const { return buffer_.size() - at_; }
  /// The buffer, for appending only.
  [[nodiscard]] std::string& end() { return buffer_; }
  /// Removes the first `bytes`, at most size(). Moves the rest to the start of the buffer only when
  /// more than half of the buffer is free, so that each byte is moved at most once.
  void drop(std::size_t bytes) {
    at_ += bytes;
    if (at_ <= buffer_.size() / 2) return;
    buffer_.erase(0, at_);
    at_ = 0;
  }

 private:
  std::string buffer_;
  std::size_t at_ = 0;  ///< Position of the first byte in the queue.
};

}  // namespace hostler::agent
