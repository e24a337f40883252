#pragma once

#include <cstddef>
#include <string_view>

#include "core/api/http.h"

namespace hostler::api {

/// Segments of a path. A job's output file may be 64 folders deep.
inline constexpr std::size_t kSegmentsMax = 72;

/// Splits "/v1/jobs?limit=10" into the request's path and query, percent-decoded. Refuses a
/// malformed escape, more than kSegmentsMax segments and more than 32 query keys.
Result<void> parse_target(std::string_view target, Request& request);

}  // namespace hostler::api
