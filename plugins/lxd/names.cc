#include "names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace hostler::lxd {

std::string hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(hash));
  return hex.data();
}

std::string name_of_key(std::string_view key) {
  // A name has letters, digits and '-', at most 63, no '-' at its end, and is a name in DNS.
  const bool fits = key.size() <= 55 && !key.empty() && key.back() != '-' &&
                    std::all_of(key.begin(), key.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
                    });
  return "hostler-" + (fits ? std::string(key) : "x" + hash_of(key));
}

bool is_tag(std::string_view name, std::string_view value) {
  constexpr std::array kNotTags{"user-data", "vendor-data", "meta-data", "network-config",
                                "network_mode"};
  const bool reserved = std::find(kNotTags.begin(), kNotTags.end(), name) != kNotTags.end() ||
                        ("user." + std::string(name)).compare(0, kPrivate.size(), kPrivate) == 0;
  // LXD keeps no empty value.
  return !reserved && !name.empty() && name.size() <= 127 && !value.empty() &&
         value.size() <= 255 && std::none_of(value.begin(), value.end(), [](unsigned char c) {
           return c < 0x20 || c == 0x7f;
         });
}

}  // namespace hostler::lxd
