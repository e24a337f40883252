#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The strings of the SSH protocol (RFC 4251 section 5). Private to core/crypto.
namespace hostler::crypto::wire {

inline void put_u32(std::string& out, std::uint32_t value) {
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    out += static_cast<char>(static_cast<std::uint8_t>(value >> shift));
}

inline void put_string(std::string& out, std::string_view value) {
  put_u32(out, static_cast<std::uint32_t>(value.size()));
  out += value;
}

inline std::optional<std::uint32_t> take_u32(std::string_view& in) {
  if (in.size() < 4) return std::nullopt;
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i)
    value = value << 8U | static_cast<std::uint8_t>(in[static_cast<std::size_t>(i)]);
  in.remove_prefix(4);
  return value;
}

inline std::optional<std::string_view> take_string(std::string_view& in) {
  const auto size = take_u32(in);
  if (!size || *size > in.size()) return std::nullopt;
  const std::string_view value = in.substr(0, *size);
  in.remove_prefix(*size);
  return value;
}

}  // namespace hostler::crypto::wire
