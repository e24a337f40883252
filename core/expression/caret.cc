#include "core/expression/caret.h"

#include <algorithm>

#include "core/base/text.h"

namespace hostler::expression {
namespace {

/// Characters of a text that may be malformed: each byte that continues none counts.
std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(std::max<std::size_t>(1, utf8_length(text)));
  return count;
}

/// What is shown of a line takes one column for each of its characters.
std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view first = text.substr(0, std::max<std::size_t>(1, length));
    out += length == 0 ? "?" : is_disruptive(first) ? " " : std::string(first);
    text.remove_prefix(first.size());
  }
  return out;
}

}  // namespace

std::string with_caret(std::string_view message, std::string_view text, std::size_t at) {
  constexpr std::size_t kBefore = 60, kAfter = 40;
  at = std::min(at, text.size());
  const std::string_view before = text.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t begin = lines == 0 ? 0 : before.rfind('\n') + 1;
  const std::size_t end = std::min(text.find('\n', at), text.size());
  const std::size_t column = columns(text.substr(begin, at - begin));

  const bool cut_left = at - begin > kBefore, cut_right = end - at > kAfter;
  const std::size_t from = cut_left ? at - kBefore : begin, to = cut_right ? at + kAfter : end;
  const std::string left = (cut_left ? "..." : "") + shown(text.substr(from, at - from));
  const std::string right = shown(text.substr(at, to - at)) + (cut_right ? "..." : "");

  std::string out(message);
  out += " (" + std::to_string(lines + 1) + ":" + std::to_string(column + 1) + ")";
  out += "\n | " + left + right;
  out += "\n | " + std::string(columns(left), '.') + "^";
  return out;
}

}  // namespace hostler::expression
