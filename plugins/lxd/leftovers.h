#pragma once

#include <hostler/driver.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "answer.h"
#include "instance.h"

namespace hostler::lxd {

/// A storage volume or profile. This driver makes none: somebody has given it our tags.
struct Leftover {
  std::string type;         ///< "storage-volume" or "profile"
  std::string id;           ///< Of a volume "POOL/NAME", in a cluster "POOL/NAME/MEMBER".
  std::string instance_id;  ///< Of the create whose key it carries; may be empty.
  Tags tags;
  std::int64_t created_unix_ns = 0;  ///< 0: LXD does not say.
  bool is_used = false;              ///< By an instance, a profile or an image.

  [[nodiscard]] std::string tag(const std::string& name) const;
  [[nodiscard]] bool has_all(const hostler_leftover_list_req& request) const;
};

inline constexpr const char* kVolume = "storage-volume";
inline constexpr const char* kProfile = "profile";

// Both throw Error(TRANSIENT) if `value` cannot be one.
Leftover read_volume(const Value& value, const std::string& pool);
Leftover read_profile(const Value& value);

/// Path of its description. Throws Error(INVALID) if this driver gives no thing such a type and id.
std::string path_of_leftover(const std::string& type, const std::string& id);

}  // namespace hostler::lxd
