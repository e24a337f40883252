#pragma once

#include <string>
#include <string_view>

namespace hostler::ec2 {

/// SHA-256, its first 32 hexadecimal digits.
std::string digest_of(std::string_view bytes);

std::string in_base64(std::string_view bytes);
/// Spaces and ends of lines do not count. Throws NoAnswer(TRANSIENT) if it is no base64.
std::string from_base64(std::string_view text);

}  // namespace hostler::ec2
