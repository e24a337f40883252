#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostler::model {

/// A network of the cloud that an instance is put in.
struct Subnet {
  std::string id;    ///< The cloud's name of it.
  std::string zone;  ///< The zone that it is in; empty: it is in each.
  friend bool operator==(const Subnet&, const Subnet&) = default;
};

/// On whose machine an instance runs (driver ABI HOSTLER_TENANCY_*).
enum class Tenancy : std::uint8_t {
  kDefault,    ///< As the cloud decides.
  kDedicated,  ///< On one that no other customer uses.
  kHost,       ///< On one that this account has rented as a whole.
};

/// Whether an instance gets a public address (driver ABI HOSTLER_PUBLIC_IP_*).
enum class PublicAddress : std::uint8_t {
  kDefault,  ///< As the subnet says.
  kYes,
  kNo,
};

/// Where in the cloud an instance is put, and what the cloud gives it: keys of a type and of a
/// pool. A value that is empty, 0 or kDefault is not said, and at last the driver's choice.
struct Placement {
  std::int64_t root_disk = 0;   ///< Bytes.
  std::vector<Subnet> subnets;  ///< A create names one of them.
  std::vector<std::string> security_groups, profiles;
  std::string placement_group, capacity_reservation, identity_profile;
  Tenancy tenancy = Tenancy::kDefault;
  PublicAddress public_address = PublicAddress::kDefault;
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// What the pool says, and otherwise the type.
inline Placement placement_of(const Placement& pool, const Placement& type) {
  Placement out = pool;
  const auto use = [&](auto Placement::*member) {
    if (out.*member == Placement{}.*member) out.*member = type.*member;
  };
  use(&Placement::root_disk);
  use(&Placement::subnets);
  use(&Placement::security_groups);
  use(&Placement::profiles);
  use(&Placement::placement_group);
  use(&Placement::capacity_reservation);
  use(&Placement::identity_profile);
  use(&Placement::tenancy);
  use(&Placement::public_address);
  return out;
}

}  // namespace hostler::model
