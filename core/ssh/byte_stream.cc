#include "core/ssh/byte_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/base/assert.h"
#include "core/ssh/tunnel.h"

namespace hostler::ssh {

ByteStream::ByteStream(Socket socket, std::unique_ptr<Tunnel> tunnel,
                       std::function<void()> on_ready)
    : socket_(std::move(socket)), tunnel_(std::move(tunnel)), on_ready_(std::move(on_ready)) {}
ByteStream::~ByteStream() = default;

void ByteStream::renew_budget() { budget_ = kBudget; }

std::size_t ByteStream::take_moved() { return std::exchange(moved_, 0); }

ssize_t ByteStream::receive(void* into, std::size_t size) {
  if (!readable_ || has_ended() || budget_ == 0) return -EAGAIN;
  ssize_t n = 0;
  do {
    n = ::recv(descriptor(), into, std::min(size, budget_), MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    readable_ = false;
    return -EAGAIN;
  }
  if (n <= 0) {
    std::string reason =
        n == 0 ? "the peer closed the connection" : std::generic_category().message(errno);
    if (n == 0 && tunnel_ && !tunnel_->end_reason().empty()) reason = tunnel_->end_reason();
    end(std::move(reason));
    return -EAGAIN;
  }
  moved_ += static_cast<std::size_t>(n);
  budget_ -= static_cast<std::size_t>(n);
  return n;
}

ssize_t ByteStream::send(const void* data, std::size_t size) {
  if (!has_ended()) out_.append(static_cast<const char*>(data), size);
  if (out_.size() - sent_ > kUnsentMax) end("it takes too little of what it is sent");
  moved_ += size;
  return static_cast<ssize_t>(size);
}

void ByteStream::flush() {
  while (!has_ended() && sent_ < out_.size()) {
    const ssize_t n =
        ::send(descriptor(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n < 0) return end(std::generic_category().message(errno));
    sent_ += static_cast<std::size_t>(n);
    moved_ += static_cast<std::size_t>(n);
  }
  if (sent_ == out_.size()) {
    out_.clear();
    sent_ = 0;
    if (out_.capacity() > kRoom / 4) out_.shrink_to_fit();  // 10,000 hosts are idle at once
  } else if (sent_ > kRoom) {
    out_.erase(0, sent_);
    sent_ = 0;
  }
}

void ByteStream::wait(const std::weak_ptr<void>& owner, bool to_read) {
  if (to_read && !readable_ && !reading_) {
    reading_ = true;
    socket_.async_wait(Socket::wait_read, [this, owner](const auto& problem) {
      const auto alive = owner.lock();
      if (!alive) return;
      reading_ = false;
      if (problem) return;
      readable_ = true;
      on_ready_();
    });
  }
  if (sent_ < out_.size() && !writing_) {
    writing_ = true;
    socket_.async_wait(Socket::wait_write, [this, owner](const auto& problem) {
      const auto alive = owner.lock();
      if (!alive) return;
      writing_ = false;
      if (!problem) on_ready_();
    });
  }
}

void ByteStream::end(std::string reason) {
  if (has_ended()) return;
  end_reason_ = std::move(reason);
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

const std::string& ByteStream::end_reason() const {
  HOSTLER_ASSERT(has_ended(), "a stream has a reason after its end");
  return *end_reason_;
}

void ByteStream::shut_down() {
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_both, ignored);
}

}  // namespace hostler::ssh
