#include "quota_group.h"

#include <hostler/driver.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hostler::ec2 {
namespace {

/// EC2's own, by the letters before the first digit of a type; other letters are their own group.
std::string family_of(std::string_view letters) {
  constexpr std::array kStandard{"a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"};
  if (std::find(kStandard.begin(), kStandard.end(), letters) != kStandard.end()) return "standard";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOthers{
      {{"vt", "g"}, {"gr", "g"}, {"u", "high-memory"}}};
  for (const auto& [begin, group] : kOthers)
    if (begin == letters) return std::string(group);
  return std::string(letters);
}

}  // namespace

std::string quota_group_of(std::string_view type, std::uint32_t market,
                           const std::map<std::string, std::string>& own) {
  const auto* const end =
      std::find_if(type.begin(), type.end(), [](char c) { return c < 'a' || c > 'z'; });
  const std::string_view letters = type.substr(0, static_cast<std::size_t>(end - type.begin()));
  if (letters.empty() || letters.size() > 40 || letters.size() == type.size()) return {};
  std::string group = family_of(letters);
  std::size_t longest = 0;
  for (const auto& [begin, name] : own) {
    // "m" is not the beginning of "mac1.metal": a family has all of the letters.
    const bool fits = type.substr(0, begin.size()) == begin && begin.size() >= letters.size();
    if (fits && begin.size() > longest) longest = begin.size(), group = name;
  }
  return market == HOSTLER_MARKET_SPOT ? group + "-spot" : group;
}

}  // namespace hostler::ec2
