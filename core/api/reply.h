#pragma once

#include "core/api/connection.h"
#include "core/api/http.h"

/// Inside api: a response as bytes.
namespace hostler::api {

/// Writes all of it, the head alone if `head_only`. False: the connection has to end, as after a
/// feed, or the client took longer than `limit` over a piece.
asio::awaitable<bool> write_response(Connection& connection, Response response, bool keep_alive,
                                     bool head_only, std::chrono::seconds limit);

}  // namespace hostler::api
