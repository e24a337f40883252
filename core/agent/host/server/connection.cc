#include "core/agent/host/server/connection.h"

#include <unistd.h>

#include <cerrno>

namespace hostler::agent {

bool Connection::read_some() {
  static char buffer[std::size_t{64} << 10];
  for (;;) {
    const ssize_t n = ::read(in_.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    decoder_.feed({buffer, static_cast<std::size_t>(n)});
    // Enough for one turn: what it asks for comes first.
    return true;
  }
}

bool Connection::write_some() {
  while (at_ < buffer_.size()) {
    const ssize_t n = ::write(out_.get(), buffer_.data() + at_, buffer_.size() - at_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return false;
    at_ += static_cast<std::size_t>(n);
  }
  if (at_ == buffer_.size()) {
    buffer_.clear();
    at_ = 0;
  } else if (at_ > buffer_.size() / 2) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  return true;
}

}  // namespace hostler::agent
