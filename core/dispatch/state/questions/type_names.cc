#include "core/dispatch/state/questions/type_names.h"

#include <algorithm>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

constexpr std::size_t kNameBytesMax = 63;

char fit(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  const bool is_fit = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  return is_fit ? c : '-';
}

/// `text` is what is cut if both are too long together.
std::string joined(std::string text, const std::string& end) {
  text.resize(std::min(text.size(), kNameBytesMax - std::min(end.size(), kNameBytesMax)));
  return (text + end).substr(0, kNameBytesMax);
}

}  // namespace

std::string name_for(const std::string& set, const std::string& provider_type, model::Market market,
                     const std::set<std::string>& taken) {
  const std::string spot = market == model::Market::kSpot ? "-spot" : "";
  std::string base = provider_type;
  std::ranges::transform(base, base.begin(), fit);
  std::string name = joined(base, spot);
  // A name that had to be cut may be that of two types.
  const bool is_whole = base.size() + spot.size() <= kNameBytesMax;
  if (is_whole && !taken.contains(name)) return name;
  name = joined(base, "-" + set + spot);
  if (is_whole && !taken.contains(name)) return name;
  for (std::uint64_t n = fnv1a(set + '\n' + provider_type + spot);; ++n) {
    name = joined(base, "-" + std::to_string(n % 100'000'000) + spot);
    if (!taken.contains(name)) return name;
  }
}

}  // namespace hostler::dispatch
