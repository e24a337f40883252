#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "answer.h"
#include "http/text.h"
#include "record_lists.h"

namespace hostler::lxd {

using Tags = std::map<std::string, std::string>;

using driver::Address;

/// A container as LXD shows it.
struct Instance {
  std::string name;
  std::string kind;  ///< "container" or "virtual-machine"
  /// The key of the create that made it. Empty: nobody's. That includes a copy made by hand, which
  /// has all tags of its original, but cannot have the name that belongs to the key.
  std::string key;
  std::string set_id, owner, provider_type, digest;  ///< Of ours only.
  Tags tags;  ///< Of ours only, those of the driver left out.
  std::string zone, state_reason, description;
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

/// Adds the tags that a config of LXD has, those of the driver left out.
void read_tags(const Value& config, Tags& to);

using http::read_time_ns;

}  // namespace hostler::lxd
