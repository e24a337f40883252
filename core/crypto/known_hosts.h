#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace hostler::crypto {

/// The line of a known_hosts file by which ssh accepts this key, and no other one, of a server:
/// "10.0.0.7 ssh-ed25519 AAAA...", "[2001:db8::1]:2222 ...". Ends without a newline. Fails if the
/// host is no name or address (is_host() of core/base/text.h): a pattern such as "*" would make the
/// key that of all servers. It is the same for a host that is reached through a jump host, which
/// has a line of its own.
Result<std::string> known_hosts_line(std::string_view host, std::uint16_t port,
                                     std::string_view public_key);

}  // namespace hostler::crypto
