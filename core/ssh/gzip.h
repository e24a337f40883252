#pragma once

#include <string>
#include <string_view>

namespace hostler::ssh {

/// The text compressed as a gzip member (RFC 1952): the same bytes each time.
std::string gzip(std::string_view text);

}  // namespace hostler::ssh
