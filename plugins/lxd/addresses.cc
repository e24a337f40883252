#include "addresses.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace hostler::lxd {
namespace {

/// Of the cards in the config: volatile.eth0.hwaddr.
std::set<std::string> given_cards(const Value& instance) {
  std::set<std::string> out;
  const Value* const config = object_of(instance, "config");
  if (config == nullptr) return out;
  for (const auto& member : config->GetObject()) {
    const std::string_view key(member.name.GetString(), member.name.GetStringLength());
    constexpr std::string_view kBegin = "volatile.", kEnd = ".hwaddr";
    if (key.substr(0, kBegin.size()) == kBegin && key.size() > kEnd.size() &&
        key.substr(key.size() - kEnd.size()) == kEnd)
      out.insert(text_of(*config, key));
  }
  return out;
}

bool begins(const std::string& text, std::string_view begin) {
  return text.compare(0, begin.size(), begin) == 0;
}

bool is_private(const std::string& text, bool is_ipv6) {
  if (is_ipv6) return begins(text, "fc") || begins(text, "fd");
  if (begins(text, "10.") || begins(text, "192.168.")) return true;
  if (!begins(text, "172.")) return false;
  const int second = std::atoi(text.c_str() + 4);
  return second >= 16 && second <= 31;
}

}  // namespace

std::vector<Address> read_addresses(const Value& instance) {
  struct Found {
    bool made_inside, is_ipv6;
    Address address;
    [[nodiscard]] auto rank() const { return std::pair(made_inside, is_ipv6); }
  };
  std::vector<Found> found;
  const Value* const state = object_of(instance, "state");
  const Value* const network = state == nullptr ? nullptr : object_of(*state, "network");
  if (network == nullptr) return {};
  const std::set<std::string> given = given_cards(instance);
  for (const auto& card : network->GetObject()) {
    if (!card.value.IsObject() || !card.value.HasMember("addresses")) continue;
    const Value& addresses = card.value["addresses"];
    if (!addresses.IsArray()) continue;
    const bool made_inside = given.count(text_of(card.value, "hwaddr")) == 0;
    for (const Value& one : addresses.GetArray()) {
      Address address{text_of(one, "address"), 0};
      const std::string family = text_of(one, "family");
      const bool is_ipv6 = family == "inet6";
      if (text_of(one, "scope") != "global" || !(is_ipv6 || family == "inet") ||
          address.text.empty() || address.text.size() > 64)
        continue;
      address.scope =
          is_private(address.text, is_ipv6) ? HOSTLER_ADDRESS_PRIVATE : HOSTLER_ADDRESS_PUBLIC;
      found.push_back({made_inside, is_ipv6, std::move(address)});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.rank() < b.rank(); });
  std::vector<Address> out;
  for (Found& one : found) out.push_back(std::move(one.address));
  if (out.size() > 16) out.resize(16);
  return out;
}

}  // namespace hostler::lxd
