#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hostler::local {

/// True if `line` ("ssh-ed25519 AAAA...") is the public key with this algorithm and key blob.
bool is_key(const std::string& line, std::string_view algorithm, const std::uint8_t* blob,
            std::size_t size);

}  // namespace hostler::local
