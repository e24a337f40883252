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
    // One read for each event: its messages are carried out before more bytes are read.
    return true;
  }
}

bool Connection::write_some() {
  while (queue_.size() > 0) {
    const ssize_t n = ::write(out_.get(), queue_.bytes().data(), queue_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    queue_.drop(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace hostler::agent
