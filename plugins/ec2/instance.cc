#include "instance.h"

#include <hostler/driver.h>

#include <array>
#include <utility>

#include "http/text.h"
#include "meanings.h"

namespace hostler::ec2 {
namespace {

std::uint32_t state_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::uint32_t>, 6> kStates{
      {{"pending", HOSTLER_STATE_PENDING},
       {"running", HOSTLER_STATE_RUNNING},
       {"shutting-down", HOSTLER_STATE_TERMINATING},
       {"terminated", HOSTLER_STATE_GONE},
       {"stopping", HOSTLER_STATE_STOPPING},
       {"stopped", HOSTLER_STATE_STOPPED}}};
  for (const auto& [known, state] : kStates)
    if (name == known) return state;
  return HOSTLER_STATE_UNKNOWN;
}

void read_addresses(const Node& item, Instance& out) {
  const auto add = [&](std::string text, std::uint32_t scope) {
    if (!text.empty()) out.addresses.push_back({std::move(text), scope});
  };
  add(text_of(item, "privateIpAddress"), HOSTLER_ADDRESS_PRIVATE);
  add(text_of(item, "ipAddress"), HOSTLER_ADDRESS_PUBLIC);
  for (const Node& card : item.child("networkInterfaceSet").children("item"))
    for (const Node& address : card.child("ipv6AddressesSet").children("item"))
      add(text_of(address, "ipv6Address"), HOSTLER_ADDRESS_PUBLIC);
}

/// Its code and its words. Somebody has asked for its end where the code says so.
void read_reason(const Node& item, Instance& out) {
  const std::string code = text_at(item, "stateReason/code");
  const std::string words = text_at(item, "stateReason/message");
  out.state_reason = words.empty() ? text_of(item, "reason") : words;
  const bool is_over = out.state == HOSTLER_STATE_GONE || out.state == HOSTLER_STATE_TERMINATING ||
                       out.state == HOSTLER_STATE_STOPPED || out.state == HOSTLER_STATE_STOPPING;
  constexpr std::string_view kByUser = "Client.User";
  if (!is_over || code.empty() || code.compare(0, kByUser.size(), kByUser) == 0) return;
  // The words begin with the code.
  const bool has_code = words.compare(0, code.size(), code) == 0;
  out.state_error = has_code ? words : code + ": " + words;
  if (const Meaning* const known = find_meaning(code, words)) {
    out.state_error_status = known->status;
    out.state_error_scope = known->scope;
  }
}

}  // namespace

Tags read_tag_set(const Node& set) {
  Tags out;
  for (const Node& tag : set.children("item")) out[text_of(tag, "key")] = text_of(tag, "value");
  return out;
}

Instance read_instance(const Node& item) {
  Instance out;
  out.id = text_of(item, "instanceId");
  const std::string state = text_at(item, "instanceState/name");
  if (out.id.empty() || state.empty()) throw_not_amazon("an instance without an id or a state");
  out.state = state_of(state);
  read_reason(item, out);
  out.type = text_of(item, "instanceType");
  out.image = text_of(item, "imageId");
  out.zone = text_at(item, "placement/availabilityZone");
  out.subnet = text_of(item, "subnetId");
  out.spot_request = text_of(item, "spotInstanceRequestId");
  out.is_spot = text_of(item, "instanceLifecycle") == "spot" || !out.spot_request.empty();
  out.created_unix_ns = http::read_time_ns(text_of(item, "launchTime"));
  read_addresses(item, out);
  Tags tags = read_tag_set(item.child("tagSet"));
  const std::string token = text_of(item, "clientToken");
  const bool is_ours = tags.count(kKeyTag) == 0 || token.empty() || tags[kKeyTag] == token;
  if (!is_ours) return out;
  const auto value = [&](const char* key) {
    const auto found = tags.find(key);
    return found == tags.end() ? std::string() : found->second;
  };
  out.key = value(kKeyTag);
  out.set_id = value(kSetTag);
  out.owner = value(kOwnerTag);
  out.digest = value(kDigestTag);
  tags.erase(kDigestTag);
  out.tags = std::move(tags);
  return out;
}

}  // namespace hostler::ec2
