#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hostler {

/// Lower-case hexadecimal digits.
std::string to_hex(std::span<const std::uint8_t> bytes);
/// nullopt unless `text` is an even number of hexadecimal digits of either case.
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text);

/// Length in bytes of the first UTF-8 character of `text`; 0 if it is malformed or missing.
std::size_t utf8_length(std::string_view text);
/// True if `text` is well-formed UTF-8 without NUL.
bool is_utf8(std::string_view text);
/// The first character of `text`, which is well-formed, changes how others are shown or is not seen
/// itself: control characters, those of bidirectional text, line separators, those of no width.
bool is_disruptive(std::string_view text);
/// "\u202e", as JSON writes the first character of `text`, which is_disruptive().
std::string escaped_character(std::string_view text);
/// Makes text of a host, driver or user fit for a terminal, a log line or an error message: one
/// line of at most `max` bytes and "...". Tabs and ends of lines become blanks, other disruptive
/// characters are escaped, malformed bytes become "?".
std::string printable(std::string_view text, std::size_t max = 300);

/// True if the path stays inside a folder to which it is appended: relative, UTF-8, no control
/// characters, no empty part, no "." and no "..", at most 1024 bytes.
bool is_safe_path(std::string_view path);

/// True for `[a-z0-9_-]{1,63}`, the form of names, which are also used as tags in clouds.
bool is_name(std::string_view text);

/// One word for sh, whatever is in it: in quotation marks.
std::string shell_word(std::string_view text);

inline constexpr std::size_t kHostBytesMax = 255;
/// True if it may be the name or the address of a host: [A-Za-z0-9_.:%-], without brackets. Never
/// an option of a command, and never a pattern.
bool is_host(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);
/// `text` as a decimal number; nullopt if it contains anything else.
std::optional<std::uint64_t> parse_u64(std::string_view text);

/// The hash FNV-1a. Not for text that an attacker can choose.
std::uint64_t fnv1a(std::string_view text);

}  // namespace hostler
