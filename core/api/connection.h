#pragma once

#include <boost/asio.hpp>
#include <chrono>
#include <memory>
#include <string_view>

namespace boost::asio::ssl {
class context;
}

/// Private to core/api: the bytes of one connection.
namespace hostler::api {

namespace asio = boost::asio;
using boost::system::error_code;
using Executor = asio::strand<asio::io_context::executor_type>;
using PlainSocket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;

inline constexpr std::size_t kPiece = 65536;  ///< Bytes that are read or written at once.

inline auto no_throw(error_code& problem) {
  return asio::redirect_error(asio::use_awaitable, problem);
}

/// A plain or a TLS connection. Used on its socket's strand by one coroutine at a time; `problem`
/// and the buffers must stay valid until the awaited call has returned.
class Connection {
 public:
  virtual ~Connection() = default;
  /// From now on, an operation that is not finished after `time` ends with beast::error::timeout,
  /// and the connection is closed.
  virtual void expires_after(std::chrono::seconds time) = 0;
  /// The TLS handshake; nothing on a plain connection.
  virtual asio::awaitable<void> begin(error_code& problem) = 0;
  /// The TLS shutdown; nothing on a plain connection.
  virtual asio::awaitable<void> end(error_code& problem) = 0;
  /// Returns the number of bytes read. At the end of the stream 0, and `problem` is
  /// asio::error::eof.
  virtual asio::awaitable<std::size_t> read_some(asio::mutable_buffer into,
                                                 error_code& problem) = 0;
  /// Writes all of `head` and `body`, in one system call where possible.
  virtual asio::awaitable<void> write(std::string_view head, std::string_view body,
                                      error_code& problem) = 0;
  /// Closes the sending side of the socket, below TLS. The client may go on sending.
  virtual void finish_sending() = 0;
  /// Closes the connection; what is under way ends with an error.
  virtual void cut() = 0;
  [[nodiscard]] virtual int native_handle() = 0;
};

std::unique_ptr<Connection> plain_connection(PlainSocket socket);
std::unique_ptr<Connection> secure_connection(PlainSocket socket, asio::ssl::context& tls);

}  // namespace hostler::api
