#pragma once

#include <boost/asio.hpp>
#include <chrono>
#include <memory>
#include <string_view>

namespace boost::asio::ssl {
class context;
}

/// Inside api: the bytes of one connection.
namespace hostler::api {

namespace asio = boost::asio;
using boost::system::error_code;
using Executor = asio::strand<asio::io_context::executor_type>;
using PlainSocket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;

inline constexpr std::size_t kPiece = 65536;  ///< Bytes that are read or written at once.

inline auto no_throw(error_code& problem) {
  return asio::redirect_error(asio::use_awaitable, problem);
}

/// Plain and TLS alike. Used on its socket's strand, by one coroutine at a time, which keeps
/// `problem` and what is read or written until it is resumed.
class Connection {
 public:
  virtual ~Connection() = default;
  /// What lasts longer from now on ends with beast::error::timeout, and the connection is closed.
  virtual void expires_after(std::chrono::seconds time) = 0;
  /// Agrees on keys where there is TLS.
  virtual asio::awaitable<void> begin(error_code& problem) = 0;
  /// Says to the client that this was all, where there is TLS.
  virtual asio::awaitable<void> end(error_code& problem) = 0;
  /// Returns the number of bytes; 0 with a problem, asio::error::eof at the end.
  virtual asio::awaitable<std::size_t> read_some(asio::mutable_buffer into,
                                                 error_code& problem) = 0;
  /// Both, whole and at once.
  virtual asio::awaitable<void> write(std::string_view head, std::string_view body,
                                      error_code& problem) = 0;
  /// Below TLS: the client reads the end of the stream, and may go on sending.
  virtual void finish_sending() = 0;
  [[nodiscard]] virtual int native_handle() = 0;
};

std::unique_ptr<Connection> plain_connection(PlainSocket socket);
std::unique_ptr<Connection> secure_connection(PlainSocket socket, asio::ssl::context& tls);

}  // namespace hostler::api
