#include "sdk/hosts/keeper/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "sdk/hosts/protocol/request.h"

namespace hostler::machines {

short Connection::events() const { return out_.empty() ? POLLIN : POLLOUT; }

bool Connection::send_some() {
  while (!out_.empty()) {
    const ssize_t count = ::send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    out_.erase(0, static_cast<std::size_t>(count));
  }
  return !closing_;
}

bool Connection::exchange(short events) {
  if (!out_.empty()) return send_some();
  if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return true;
  char buffer[16384];
  const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  in_.append(buffer, static_cast<std::size_t>(count));
  return count > 0;
}

std::optional<std::string> Connection::next_line() {
  if (!out_.empty()) return std::nullopt;
  const auto end = in_.find('\n');
  if (end == std::string::npos && in_.size() <= kLineMax) return std::nullopt;
  std::string line = in_.substr(0, end);
  in_.erase(0, end == std::string::npos ? in_.size() : end + 1);
  return line;
}

}  // namespace hostler::machines
