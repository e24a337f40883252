#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace hostler {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The code point of the first character of well-formed text.
std::uint32_t code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = utf8_length(text);
  std::uint32_t out = length < 2 ? first : first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i)
    out = out << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
  return out;
}

struct Range {
  std::uint32_t first, last;
};
constexpr Range kDisruptive[] = {
    {0x00, 0x1f},        // C0
    {0x7f, 0x9f},        // DEL and C1, some of which start escape sequences
    {0xad, 0xad},        // soft hyphen
    {0x61c, 0x61c},      // bidirectional
    {0x180e, 0x180e},    // no width
    {0x200b, 0x200f},    // no width, bidirectional
    {0x2028, 0x202e},    // line and paragraph separators, bidirectional
    {0x2060, 0x206f},    // no width, bidirectional
    {0xfeff, 0xfeff},    // byte order mark
    {0xfff9, 0xfffb},    // annotations
    {0xe0000, 0xe007f},  // tags
};

/// True if all eight bytes are from 1 to 127. A fast path, because nearly all text is ASCII.
bool begins_with_8_plain(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U, kHighBits = kOnes << 7U;
  std::uint64_t bytes = 0;
  if (text.size() < sizeof bytes) return false;
  std::memcpy(&bytes, text.data(), sizeof bytes);
  return ((bytes | (bytes - kOnes)) & kHighBits) == 0;
}

}  // namespace

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::uint8_t b : bytes) {
    out += kDigits[b >> 4U];
    out += kDigits[b & 15U];
  }
  return out;
}

std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::uint8_t> out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return out;
}

// Table 3-7 of the Unicode standard.
std::size_t utf8_length(std::string_view s) {
  if (s.empty()) return 0;
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const auto tail = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < s.size() && at(i) >= low && at(i) <= high;
  };
  const unsigned c = at(0);
  if (c < 0x80) return 1;
  if (c >= 0xc2 && c <= 0xdf) return tail(1) ? 2 : 0;
  if (c >= 0xe0 && c <= 0xef)
    return tail(1, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf) && tail(2) ? 3 : 0;
  if (c >= 0xf0 && c <= 0xf4)
    return tail(1, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf) && tail(2) && tail(3) ? 4 : 0;
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t n = begins_with_8_plain(text) ? 8
                          : first == 0              ? 0
                          : first < 0x80            ? 1
                                                    : utf8_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

bool is_disruptive(std::string_view text) {
  const std::uint32_t point = code_point(text);
  return std::ranges::any_of(
      kDisruptive, [&](const Range& range) { return point >= range.first && point <= range.last; });
}

std::string escaped_character(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  const auto unit = [&](std::uint32_t value) {
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) out += kDigits[value >> shift & 15U];
  };
  const std::uint32_t point = code_point(text);
  if (point < 0x10000) return unit(point), out;
  unit(0xd800 + ((point - 0x10000) >> 10U));
  unit(0xdc00 + ((point - 0x10000) & 0x3ffU));
  return out;
}

std::string printable(std::string_view text, std::size_t max) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    const auto length = out.size();
    if (n == 0)
      out += '?';
    else if (text[0] >= ' ' && text[0] <= '~')
      out += text[0];
    else if (text[0] == '\n' || text[0] == '\r' || text[0] == '\t')
      out += ' ';
    else if (is_disruptive(text))
      out += escaped_character(text);
    else
      out += text.substr(0, n);
    if (out.size() > max) {
      out.resize(length);
      return out + "...";
    }
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return out;
}

bool is_safe_path(std::string_view path) {
  if (path.empty() || path.size() > 1024 || !is_utf8(path)) return false;
  const auto parts = split(path, '/');
  return std::none_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part.empty() || part == "." || part == ".." ||
           std::any_of(part.begin(), part.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  });
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 63 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

bool is_host(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:%").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kHostBytesMax && text.front() != '-' &&
         std::ranges::all_of(text, allowed);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    out.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return out;
    at = end + 1;
  }
}

std::optional<std::uint64_t> parse_u64(std::string_view text) {
  std::uint64_t value = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace hostler
