#pragma once

#include "core/api/access.h"
#include "core/api/connection.h"
#include "core/api/http.h"
#include "core/api/turns.h"

/// Private to core/api: writes a response to a connection.
namespace hostler::api {

/// A response that ends its connection, as it is sent.
std::string whole_text(const Response& response);

/// Writes the response, or only its head if `head_only`. `limit`: the time that the client may take
/// to read each piece. A feed ends with an event `error` as soon as `standing` says that the client
/// may not receive it any more; each of its pieces waits for a turn of `client`.
/// False: the connection must be closed, because of an error or at the end of a feed.
asio::awaitable<bool> write_response(Connection& connection, const Client& client,
                                     Response response, bool keep_alive, bool head_only,
                                     std::chrono::seconds limit, Standing standing);

}  // namespace hostler::api
