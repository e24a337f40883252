#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hostler::local {

/// Whether `line` ("ssh-ed25519 AAAA...") is the public key of that algorithm and wire form.
bool is_key(const std::string& line, std::string_view algorithm, const std::uint8_t* blob,
            std::size_t size);

}  // namespace hostler::local
