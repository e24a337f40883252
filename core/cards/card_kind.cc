#include "core/cards/card_kind.h"

#include <algorithm>
#include <array>

#include "core/model/gpus.h"

namespace hostler::cards {
namespace {

/// Words that people leave out when they name a card.
constexpr std::array<std::string_view, 6> kWordsOfMakers{"nvidia", "tesla", "geforce",
                                                         "amd",    "ati",   "instinct"};

bool is_of_kind(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
}

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// "Navi 21 [Radeon RX 6800]" names the chip first, and the product in brackets.
std::string_view product_of(std::string_view text) {
  const std::size_t open = text.find('['), close = text.rfind(']');
  if (open == std::string_view::npos || open == 0 || close == std::string_view::npos ||
      close < open)
    return text;
  return text.substr(open + 1, close - open - 1);
}

}  // namespace

std::string card_kind(std::string_view product) {
  if (product.starts_with('[') || product == "N/A") return "";
  std::string out, word;
  const auto end_word = [&] {
    if (!word.empty() && std::ranges::find(kWordsOfMakers, word) == kWordsOfMakers.end())
      out += (out.empty() ? "" : "-") + word;
    word.clear();
  };
  for (const char c : product_of(product)) {
    const char low = lowered(c);
    if (is_of_kind(low))
      word += low;
    else
      end_word();
  }
  end_word();
  out.resize(std::min(out.size(), model::kGpuKindBytesMax));
  while (out.ends_with('-')) out.pop_back();
  return out;
}

}  // namespace hostler::cards
