#pragma once

#include <hostler/driver.hpp>
#include <map>
#include <string>
#include <vector>

#include "config.h"
#include "devices.h"
#include "instance.h"

namespace hostler::lxd {

/// In bytes. A list has the user data of each container twice, and an answer at most 64 MiB.
inline constexpr std::size_t kUserDataMax = std::size_t{16} * 1024;

/// A create request in the words of LXD.
struct CreateSpec {
  std::string name, key, zone, description, image;
  std::vector<std::string> profiles;
  std::map<std::string, std::string> keys;  ///< SECRET; the config of the container.
  DeviceWishes wishes;
  std::string digest;  ///< Of the request alone, whatever config the set has.
  Instance expected;   ///< What it will be, for the record before LXD shows it.
};

/// Throws driver::Error (INVALID, UNSUPPORTED) on what LXD or this driver cannot do. No I/O.
/// \param has_cloud_init_keys the server has the API extension `cloud_init`.
CreateSpec read_spec(const hostler_create_req& request, const Config& config,
                     const std::string& set_id, const Tags& shared_tags, bool has_cloud_init_keys);

/// SECRET: the body of POST /1.0/instances.
std::string body_of(const CreateSpec& spec, const Devices& own_devices);

/// The pairs as a map; of two with one key the last counts. Throws INVALID on a tag that LXD would
/// not keep.
Tags read_tags(const hostler_kv* tags, std::size_t n);

}  // namespace hostler::lxd
