#pragma once

#include <atomic>
#include <memory>

#include "core/api/access.h"
#include "core/api/connection.h"
#include "core/api/http.h"

/// Inside api: one connection of the server.
namespace hostler::api {

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
