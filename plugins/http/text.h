#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hostler::http {

/// For one part of a URL: what is not a letter, digit or one of - . _ ~ is percent-encoded.
std::string encoded(std::string_view text);

/// "2026-11-24T19:37:45.683483988Z" or "2026-11-24T20:37:45+01:00" as nanoseconds since 1970; 0 if
/// it is not such a time.
std::int64_t read_time_ns(const std::string& text);

}  // namespace hostler::http
