#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "answer.h"
#include "record_lists.h"

namespace hostler::ec2 {

using Tags = std::map<std::string, std::string>;

// Tags that the driver makes use of.
inline constexpr const char* kSetTag = "hostler-set";
inline constexpr const char* kKeyTag = "hostler-key";
inline constexpr const char* kOwnerTag = "hostler-owner";
/// Of the create request. The host does not see it.
inline constexpr const char* kDigestTag = "hostler-driver-request";
/// For people; the driver's own unless the site has one.
inline constexpr const char* kNameTag = "Name";

using driver::Address;

/// An instance as EC2 shows it.
struct Instance {
  std::string id;
  /// The key of the create that made it. Empty: nobody's. That includes one that was launched by
  /// hand with the tags of another: its client token is another one.
  std::string key;
  std::string set_id, owner, digest;  ///< Of ours only.
  Tags tags;                          ///< Of ours only; without digest.
  std::string type, image, zone, subnet, spot_request;
  std::string state_reason, state_error;
  std::vector<Address> addresses;  ///< The best one first.
  std::int64_t created_unix_ns = 0;
  std::uint32_t state = 0;  ///< HOSTLER_STATE_*
  hostler_status state_error_status = HOSTLER_OK;
  std::uint32_t state_error_scope = 0;  ///< HOSTLER_SCOPE_*
  bool is_spot = false;
};

/// Throws NoAnswer(TRANSIENT) if `item` has no id or no state.
Instance read_instance(const Node& item);

/// Of a <tagSet>.
Tags read_tag_set(const Node& set);

}  // namespace hostler::ec2
