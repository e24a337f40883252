#pragma once

#include <string_view>

#include "core/api/http.h"

namespace hostler::api {

/// Splits "/v1/jobs?limit=10" into the request's path and query, percent-decoded. Refuses a
/// malformed escape, more than 16 segments and more than 32 query keys.
Result<void> parse_target(std::string_view target, Request& request);

}  // namespace hostler::api
