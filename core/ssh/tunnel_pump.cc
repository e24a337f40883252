#include "core/ssh/tunnel_pump.h"

#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <vector>

namespace hostler::ssh {
namespace asio = boost::asio;
namespace {

constexpr std::size_t kPiece = 16384;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

void TunnelPump::start() {
  const auto run = [this](asio::awaitable<void> direction) {
    asio::co_spawn(server_->executor(), std::move(direction),
                   [self = shared_from_this()](const std::exception_ptr&) {});
  };
  run(to_host());
  run(from_host());
}

void TunnelPump::abandon() {
  abandoned_ = true;
  boost::system::error_code ignored;
  socket_.cancel(ignored);
  server_->try_again();
}

void TunnelPump::end(std::string reason) {
  if (end_reason_.empty()) end_reason_ = std::move(reason);
  boost::system::error_code ignored;
  socket_.shutdown(ByteStream::Socket::shutdown_send, ignored);
}

asio::awaitable<void> TunnelPump::wait_for_socket(ByteStream::Socket::wait_type what) {
  boost::system::error_code cancelled;
  auto token = asio::redirect_error(asio::use_awaitable, cancelled);
  co_await socket_.async_wait(what, std::move(token));
}

/// False: nothing more can be sent.
asio::awaitable<bool> TunnelPump::send_to_host(std::string_view data) {
  ssize_t n = 0;
  auto give = [&] {
    while (!data.empty() && server_->has_room() && !server_->is_lost()) {
      n = libssh2_channel_write(channel_.get(), data.data(), data.size());
      if (n < 0 && n != LIBSSH2_ERROR_EAGAIN) return true;
      if (n <= 0) break;
      data.remove_prefix(static_cast<std::size_t>(n));
    }
    return data.empty() || abandoned_;
  };
  const Waited waited = co_await server_->until(give, kNever);
  co_return waited == Waited::kDone&& data.empty();
}

asio::awaitable<void> TunnelPump::to_host() {
  const auto self = shared_from_this();
  std::vector<char> piece(kPiece);
  for (;;) {
    const ssize_t n = ::recv(socket_.native_handle(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (n < 0 && would_block() && !abandoned_) {
      co_await wait_for_socket(ByteStream::Socket::wait_read);
      continue;
    }
    if (n <= 0) break;
    const std::string_view data(piece.data(), static_cast<std::size_t>(n));
    const bool sent = co_await send_to_host(data);
    if (!sent) break;
  }
}

/// False: the other end of the pair is gone.
asio::awaitable<bool> TunnelPump::send_to_socket(std::string_view data) {
  while (!data.empty() && !abandoned_) {
    const ssize_t n =
        ::send(socket_.native_handle(), data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && would_block()) {
      co_await wait_for_socket(ByteStream::Socket::wait_write);
      continue;
    }
    if (n < 0) co_return false;
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  co_return !abandoned_;
}

asio::awaitable<void> TunnelPump::from_host() {
  const auto self = shared_from_this();
  std::vector<char> piece(kPiece);
  for (;;) {
    ssize_t n = 0;
    auto take = [&] {
      if (abandoned_) return true;
      n = libssh2_channel_read(channel_.get(), piece.data(), piece.size());
      if (n == 0) return libssh2_channel_eof(channel_.get()) != 0;
      return n != LIBSSH2_ERROR_EAGAIN;
    };
    const Waited waited = co_await server_->until(take, kNever);
    if (abandoned_) co_return;
    if (waited != Waited::kDone || n < 0) {
      Error error = server_->error("lost the jump host: session", waited, {});
      co_return end(std::move(error.message));
    }
    if (n == 0) co_return end({});
    const std::string_view data(piece.data(), static_cast<std::size_t>(n));
    const bool sent = co_await send_to_socket(data);
    if (!sent) co_return;
  }
}

}  // namespace hostler::ssh
