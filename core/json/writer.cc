#include "core/json/writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/text.h"

namespace hostler::json {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool is_plain(char c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

void escape(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kDigits[static_cast<unsigned char>(c) >> 4U];
      out += kDigits[static_cast<unsigned char>(c) & 15U];
  }
}

}  // namespace

void Writer::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

Writer& Writer::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

Writer& Writer::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

Writer& Writer::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

Writer& Writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

Writer& Writer::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

Writer& Writer::integer(std::int64_t number) {
  std::array<char, 32> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + 32, number).ptr;
  return raw(std::string_view(digits.data(), end));
}

Writer& Writer::natural(std::uint64_t number) {
  std::array<char, 32> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + 32, number).ptr;
  return raw(std::string_view(digits.data(), end));
}

Writer& Writer::value(double number) {
  if (!std::isfinite(number)) return null();
  std::array<char, 32> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + 32, number).ptr;
  return raw(std::string_view(digits.data(), end));
}

Writer& Writer::millionths(std::int64_t micros) {
  const bool negative = micros < 0;
  const std::uint64_t size =
      negative ? 0 - static_cast<std::uint64_t>(micros) : static_cast<std::uint64_t>(micros);
  std::string text = std::to_string(size % 1'000'000 + 1'000'000);
  text[0] = '.';
  text.erase(text.find_last_not_of('0') + 1);
  if (text == ".") text.clear();
  return raw((negative ? "-" : "") + std::to_string(size / 1'000'000) + text);
}

void Writer::quote(std::string_view text) {
  out_ += '"';
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_plain(text[end])) ++end;
    out_ += text.substr(at, end - at);
    if (end == text.size()) break;
    if (static_cast<unsigned char>(text[end]) < 0x80) {
      escape(out_, text[end]);
      at = end + 1;
      continue;
    }
    const std::size_t length = utf8_length(text.substr(end));
    if (length == 0)
      out_ += kReplacement;
    else if (disruptive_ == Disruptive::kEscaped &&
             is_disruptive(text.substr(end)))  // It may be shown in a terminal.
      out_ += escaped_character(text.substr(end));
    else
      out_ += text.substr(end, length);
    at = end + std::max<std::size_t>(length, 1);
  }
  out_ += '"';
}

Writer& Writer::value(Value parsed) {
  // The recursion is bounded by the depth_max of the document.
  switch (parsed.kind()) {
    case Kind::kString:
      return value(parsed.text());
    case Kind::kArray:
      begin_array();
      for (const Value element : parsed.children()) value(element);
      return end_array();
    case Kind::kObject:
      begin_object();
      for (const Value member : parsed.children()) key(member.key()).value(member);
      return end_object();
    default:
      return raw(parsed.text());
  }
}

std::string to_text(Value parsed) {
  std::string out;
  Writer(out).value(parsed);
  return out;
}

}  // namespace hostler::json
