#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "answer.h"

namespace hostler::lxd {

using Tags = std::map<std::string, std::string>;

struct Address {
  std::string text;
  std::uint32_t family = 0, scope = 0;  ///< HOSTLER_FAMILY_*, HOSTLER_ADDRESS_*
};

/// A container as LXD shows it.
struct Instance {
  std::string name;
  std::string kind;  ///< "container" or "virtual-machine"
  /// The key of the create that made it. Empty: nobody's. That includes a copy made by hand, which
  /// has all tags of its original, but cannot have the name that belongs to the key.
  std::string key;
  std::string set_id, owner, provider_type, digest;  ///< Of ours only.
  Tags tags;  ///< Of ours only, those of the driver left out.
  std::string image, zone, state_reason, description;
  std::vector<Address> addresses;  ///< The best one first.
  std::int64_t created_unix_ns = 0;
  std::uint32_t state = 0;   ///< HOSTLER_STATE_*
  bool has_started = false;  ///< Ever.
  /// Its disk is there. LXD that was killed amid a create keeps a container without one.
  bool is_made = false;
  bool is_on = false;  ///< It has to be stopped before it can be deleted.
  /// LXD cannot reach the machine it is on: only its name and its zone are known.
  bool tags_unknown = false;
};

/// Throws Error(TRANSIENT) if `value` has no name or no state.
Instance read_instance(const Value& value);

/// "2026-11-24T19:37:45.683483988Z" or "2026-11-24T20:37:45+01:00" as nanoseconds since 1970; 0 if
/// it is not such a time.
std::int64_t read_time_ns(const std::string& text);

}  // namespace hostler::lxd
