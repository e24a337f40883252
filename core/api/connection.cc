#include "core/api/connection.h"

#include <array>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <utility>

namespace hostler::api {
namespace {

namespace beast = boost::beast;

using PlainStream = beast::basic_stream<asio::generic::stream_protocol, Executor>;
using SecureStream = asio::ssl::stream<PlainStream>;

template <class Stream>
class StreamConnection : public Connection {
 public:
  template <class... Arguments>
  explicit StreamConnection(Arguments&&... arguments)
      : stream_(std::forward<Arguments>(arguments)...) {}

  void expires_after(std::chrono::seconds time) override { lowest().expires_after(time); }

  asio::awaitable<std::size_t> read_some(asio::mutable_buffer into, error_code& problem) override {
    return stream_.async_read_some(into, no_throw(problem));
  }

  asio::awaitable<void> write(std::string_view head, std::string_view body,
                              error_code& problem) override {
    const std::array pieces{asio::const_buffer(head.data(), head.size()),
                            asio::const_buffer(body.data(), body.size())};
    co_await asio::async_write(stream_, pieces, no_throw(problem));
  }

  void finish_sending() override {
    error_code ignored;
    lowest().socket().shutdown(asio::socket_base::shutdown_send, ignored);
  }

  void cut() override { lowest().close(); }

  int native_handle() override { return lowest().socket().native_handle(); }

 protected:
  PlainStream& lowest() { return beast::get_lowest_layer(stream_); }

  Stream stream_;
};

class PlainConnection final : public StreamConnection<PlainStream> {
 public:
  using StreamConnection::StreamConnection;
  asio::awaitable<void> begin(error_code&) override { co_return; }
  asio::awaitable<void> end(error_code&) override { co_return; }
};

class SecureConnection final : public StreamConnection<SecureStream> {
 public:
  using StreamConnection::StreamConnection;
  asio::awaitable<void> begin(error_code& problem) override {
    return stream_.async_handshake(asio::ssl::stream_base::server, no_throw(problem));
  }
  asio::awaitable<void> end(error_code& problem) override {
    return stream_.async_shutdown(no_throw(problem));
  }
};

}  // namespace

std::unique_ptr<Connection> plain_connection(PlainSocket socket) {
  return std::make_unique<PlainConnection>(std::move(socket));
}

std::unique_ptr<Connection> secure_connection(PlainSocket socket, asio::ssl::context& tls) {
  return std::make_unique<SecureConnection>(std::move(socket), tls);
}

}  // namespace hostler::api
