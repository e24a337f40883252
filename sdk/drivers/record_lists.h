#pragma once

#include <cstdint>
#include <hostler/driver.hpp>
#include <map>
#include <string>
#include <vector>

/// Records and their lists in the form of the ABI. They point into what they are made of, which
/// must outlive them.
namespace hostler::driver {

struct Address {
  std::string text;
  std::uint32_t scope = 0;  ///< HOSTLER_ADDRESS_*
};

inline std::vector<hostler_kv> to_abi(const std::map<std::string, std::string>& tags) {
  std::vector<hostler_kv> out;
  out.reserve(tags.size());
  for (const auto& [key, value] : tags) out.push_back({str(key), str(value)});
  return out;
}

inline std::vector<hostler_address> to_abi(const std::vector<Address>& addresses) {
  std::vector<hostler_address> out;
  out.reserve(addresses.size());
  for (const Address& one : addresses) out.push_back({one.scope, 0, str(one.text)});
  return out;
}

/// A record with what the instances of several clouds have in common: `Instance` has members of the
/// names that stand here.
class InstanceRecord {
 public:
  template <class Instance>
  explicit InstanceRecord(const Instance& instance)
      : tags_(to_abi(instance.tags)), addresses_(to_abi(instance.addresses)) {
    out.idempotency_key = str(instance.key);
    out.set_id = str(instance.set_id);
    out.owner = str(instance.owner);
    out.zone = str(instance.zone);
    out.state_reason = str(instance.state_reason);
    out.addresses = addresses_.data();
    out.n_addresses = addresses_.size();
    out.tags = tags_.data();
    out.n_tags = tags_.size();
    out.created_unix_ns = instance.created_unix_ns;
    out.state = instance.state;
  }
  InstanceRecord(const InstanceRecord&) = delete;
  InstanceRecord& operator=(const InstanceRecord&) = delete;

  hostler_instance out = instance_record();

 private:
  std::vector<hostler_kv> tags_;
  std::vector<hostler_address> addresses_;
};

}  // namespace hostler::driver
