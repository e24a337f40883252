#include "core/base/masked.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "core/base/text.h"

namespace hostler {

std::vector<std::string> longest_first(std::vector<std::string> secrets) {
  for (std::size_t i = 0, n = secrets.size(); i < n; ++i)
    if (auto shown = printable(secrets[i], SIZE_MAX); shown != secrets[i])
      secrets.push_back(std::move(shown));
  std::ranges::sort(secrets, std::ranges::greater(), &std::string::size);
  return secrets;
}

std::string masked(std::string text, const std::vector<std::string>& secrets) {
  constexpr std::string_view kShown = kHidden;
  for (const auto& secret : secrets)
    for (auto at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + kShown.size()))
      text.replace(at, secret.size(), kShown);
  return text;
}

}  // namespace hostler
