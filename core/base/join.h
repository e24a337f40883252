#pragma once

#include <string>
#include <string_view>

namespace hostler {

/// The texts of a range, in its order, with `separator` between them.
template <typename Range>
std::string join(const Range& texts, std::string_view separator) {
  std::string out;
  bool is_first = true;
  for (const auto& text : texts) {
    if (!is_first) out += separator;
    out += text;
    is_first = false;
  }
  return out;
}

}  // namespace hostler
