#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hostler {

/// Lower-case hexadecimal.
std::string to_hex(std::span<const std::uint8_t> bytes);
/// nullopt unless `text` is an even number of hexadecimal digits of either case.
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text);

/// Bytes of the well-formed UTF-8 sequence at the front of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text);
/// True if `text` is well-formed UTF-8 without NUL.
bool is_utf8(std::string_view text);
/// One line, control characters and malformed bytes replaced, cut at `max` bytes with "...":
/// what a host, driver or user sent, made fit for a log line or an error message.
std::string printable(std::string_view text, std::size_t max = 300);

/// Relative, UTF-8, no control characters, no empty part, no "." and no "..", at most 1024 bytes:
/// joined to a folder it stays inside.
bool is_safe_path(std::string_view path);

/// `[a-z0-9_-]{1,63}`: the form of names that also travel as cloud tags.
bool is_name(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);
/// The whole of `text` as a decimal number, or nullopt.
std::optional<std::uint64_t> parse_u64(std::string_view text);

/// FNV-1a, for keys of our own making; not for anything a foe may choose.
std::uint64_t fnv1a(std::string_view text);

}  // namespace hostler
