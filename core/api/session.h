#pragma once

#include <fcntl.h>

#include <atomic>
#include <boost/asio.hpp>
#include <memory>

#include "core/api/access.h"
#include "core/api/http.h"

namespace boost::asio::ssl {
class context;
}

/// Inside api: one connection of the server.
namespace hostler::api {

namespace asio = boost::asio;
using PlainSocket = asio::basic_stream_socket<asio::generic::stream_protocol,
                                              asio::strand<asio::io_context::executor_type>>;

struct SessionContext {
  Site* site;
  const Access* access;
  asio::ssl::context* tls;                      ///< Null: plain.
  std::shared_ptr<std::atomic<unsigned>> open;  ///< Counts connections.
  Deadlines deadlines;
  std::shared_ptr<std::atomic<std::uint64_t>> bodies;  ///< Counts their bytes in memory.
};

/// Serves a connection until either side has had enough. Never throws.
asio::awaitable<void> serve(PlainSocket socket, SessionContext context);

}  // namespace hostler::api
