#include "core/store/postgres/text.h"

#include <algorithm>
#include <span>

#include "core/base/text.h"

namespace hostler::store::postgres {
namespace {

constexpr char kMark = '\x01';

}  // namespace

bool needs_escape(std::string_view text) {
  return text.find(kMark) != std::string_view::npos || !is_utf8(text);
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const bool plain = text[0] != kMark && text[0] != '\0';
    const std::size_t length = plain ? utf8_length(text) : 0;
    if (length > 0) {
      out += text.substr(0, length);
    } else {
      const auto byte = static_cast<std::uint8_t>(text[0]);
      out += kMark + to_hex({&byte, 1});
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (;;) {
    const auto mark = text.find(kMark);
    out += text.substr(0, mark);
    if (mark == std::string_view::npos) return out;
    text.remove_prefix(mark + 1);
    const auto byte = from_hex(text.substr(0, 2));
    if (byte && byte->size() == 1) out += static_cast<char>(byte->front());
    text.remove_prefix(std::min<std::size_t>(text.size(), 2));
  }
}

}  // namespace hostler::store::postgres
