#pragma once

#include <sys/types.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

/// Private to core/ssh.
namespace hostler::ssh {

class Tunnel;

/// The bytes of one connection, of TCP or through a tunnel: receives without blocking, buffers what
/// it sends, and waits for the socket to become ready.
///
/// Threads: the executor's one thread. Blocking: never. Lifetime: part of a Transport, which owns
/// the session that sends and receives here.
class ByteStream {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  /// Calls `on_ready` after each wait for the socket, see wait(). `tunnel`: that of the socket, or
  /// null.
  ByteStream(Socket socket, std::unique_ptr<Tunnel> tunnel, std::function<void()> on_ready);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Keeps `what` for as long as the socket.
  void keep(std::shared_ptr<void> what) { kept_ = std::move(what); }

  [[nodiscard]] auto executor() { return socket_.get_executor(); }
  [[nodiscard]] int descriptor() { return socket_.native_handle(); }

  /// Allows receive() to take some more bytes, 1 MiB in all until the next call.
  void renew_budget();
  /// Whether receive() stopped at the budget, and the socket may hold more.
  [[nodiscard]] bool is_over_budget() const { return readable_ && budget_ == 0; }

  /// Takes at most `size` bytes from the socket. -EAGAIN if there are none now, and also after the
  /// end of the stream: if libssh2 saw the end, it would withhold the bytes that it still has.
  ssize_t receive(void* into, std::size_t size);
  /// Buffers all of `data`, so that a packet is never sent in part; flush() sends it. Ends the
  /// stream if the peer takes too little: libssh2 answers requests also while there is no room.
  ssize_t send(const void* data, std::size_t size);
  /// Sends as much of the buffer as the socket takes now.
  void flush();
  /// False while the peer takes less than it is sent: write no channel data now.
  [[nodiscard]] bool has_room() const { return out_.size() - sent_ < kRoom; }
  /// Number of bytes received, buffered and sent since the last call.
  std::size_t take_moved();

  /// Waits for the socket: to send what is buffered, and with `to_read` for bytes that arrive. Does
  /// nothing for a wait that is already running. When the wait ends, `on_ready` is called, unless
  /// `owner`, which owns this object, is gone by then.
  void wait(const std::weak_ptr<void>& owner, bool to_read);

  /// Ends the stream; the first reason counts. Running waits end without a call of `on_ready`.
  void end(std::string reason);
  [[nodiscard]] bool has_ended() const { return end_reason_.has_value(); }
  /// Why the stream ended, for messages. Only after the end.
  [[nodiscard]] const std::string& end_reason() const;
  /// After end(): tells the peer too.
  void shut_down();

 private:
  static constexpr std::size_t kRoom = std::size_t{256} << 10U;
  static constexpr std::size_t kUnsentMax = std::size_t{1} << 20U;
  static constexpr std::size_t kBudget = std::size_t{1} << 20U;

  std::shared_ptr<void> kept_;  ///< Destroyed after the socket.
  Socket socket_;
  std::unique_ptr<Tunnel> tunnel_;
  std::function<void()> on_ready_;
  std::string out_;
  std::size_t sent_ = 0;   ///< Bytes of out_ that the kernel has.
  std::size_t moved_ = 0;  ///< Since take_moved().
  std::size_t budget_ = 0;
  bool readable_ = true;  ///< The socket may hold bytes; false after EAGAIN.
  bool reading_ = false;  ///< A wait for bytes is running.
  bool writing_ = false;  ///< A wait for room in the kernel's buffer is running.
  std::optional<std::string> end_reason_;
};

}  // namespace hostler::ssh
