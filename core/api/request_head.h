#pragma once

#include <boost/beast/http/message.hpp>
#include <string_view>

#include "core/base/error.h"

/// Private to core/api: the start line and the headers of a request.
namespace hostler::api {

using RequestHead = boost::beast::http::request_header<>;

/// Refuses a head that another program on the way may read in another way: a body whose end it sees
/// elsewhere is the next request here. `text`: the bytes of the head; Beast joins folded lines.
Result<void> check_head(const RequestHead& head, std::string_view text);

/// The client expects what no HTTP server here does: 417. check_head() refuses it too.
bool expects_unknown(const RequestHead& head);

}  // namespace hostler::api
