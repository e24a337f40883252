#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hostler::crypto {

/// Standard alphabet with padding, one line (RFC 4648 section 4).
std::string to_base64(std::string_view data);
/// nullopt unless `text` is exactly what to_base64 makes: padded, without white space,
/// and without bits beyond the last byte.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace hostler::crypto
