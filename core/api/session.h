#pragma once

#include <memory>

#include "core/api/access.h"
#include "core/api/connection.h"
#include "core/api/connections.h"
#include "core/api/http.h"
#include "core/api/memory.h"
#include "core/api/turns.h"

/// Private to core/api: one connection of the server.
namespace hostler::api {

struct SessionContext {
  Site* site;
  const Access* access;
  std::shared_ptr<asio::ssl::context> tls;  ///< Null: a plain connection.
  std::shared_ptr<Connections::Place> place;
  Deadlines deadlines;
  MemoryCount bodies, answers;  ///< Of all connections.
  std::shared_ptr<Turns> turns;
};

/// Serves the requests of a connection until either side ends it. Never throws.
asio::awaitable<void> serve(PlainSocket socket, SessionContext context);

}  // namespace hostler::api
