#pragma once

#include <hostler/driver.hpp>
#include <map>
#include <string>
#include <vector>

#include "config.h"
#include "errors.h"
#include "instance.h"
#include "query.h"

namespace hostler::ec2 {

/// In bytes, before base64.
inline constexpr std::size_t kUserDataMax = std::size_t{16} * 1024;

/// By the id of a subnet.
using Zones = std::map<std::string, std::string>;

/// A create request in the words of EC2.
struct CreateSpec {
  std::string key, digest;  ///< The digest is of the request alone, whatever config the set has.
  std::string image, zone, subnet;
  std::string public_key;  ///< A line; empty: the image knows who may log in, or `key_name` does.
  Tags key_pair_tags;      ///< Of the key pair that is made of it: of no instance.
  bool needs_root_device = false;
  Subject subject;
  Query query{"RunInstances"};  ///< SECRET. What is not known yet, is added by complete().
  struct Disk {
    std::uint32_t role = 0;
    std::string device;  ///< Empty: that of the image.
    std::vector<std::pair<std::string, std::string>> fields;
  };
  std::vector<Disk> disks;
};

/// Throws driver::Error (INVALID, UNSUPPORTED) on what EC2 or this driver cannot do. No I/O.
/// \param zones of the subnets that are known, all of config.subnets among them.
CreateSpec read_spec(const hostler_create_req& request, const Config& config,
                     const std::string& set_id, const Tags& shared_tags, const Zones& zones);

/// The whole request. \param root_device of the image; needed where spec.needs_root_device.
Query complete(const CreateSpec& spec, const std::string& key_name, const std::string& root_device);

/// Has all that is made of these kinds ("instance", "volume") tagged.
void add_tags(const std::vector<const char*>& kinds, const Tags& tags, Query& query);

/// The pairs as a map; of two with one key the last counts. Throws INVALID on a tag that EC2 would
/// not keep.
Tags read_tags(const hostler_kv* tags, std::size_t n);

/// The subnet of a request, empty: EC2 chooses. Throws INVALID where none fits.
std::string choose_subnet(const hostler_create_req& request, const Config& config,
                          const Zones& zones);

}  // namespace hostler::ec2
