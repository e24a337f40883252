#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api.h"

namespace hostler::ec2 {

/// That EC2 will take an instance back.
struct Notice {
  std::string text;
  std::int64_t interruption_unix_ns = 0;  ///< 0: not said.
  std::uint32_t action = 0;               ///< HOSTLER_INTERRUPTION_*

  [[nodiscard]] bool is_same(const Notice& other) const {
    return action == other.action && interruption_unix_ns == other.interruption_unix_ns;
  }
};

/// By the id of the instance.
using Notices = std::map<std::string, Notice>;

/// Instances on the spot market of the set that EC2 is about to end or to stop: two minutes after
/// its mark. Throws Refused and driver::Error.
Notices spot_notices(const Api& api, const std::string& set_id, hostler_op* op);
/// Events that EC2 has scheduled for instances of the account: retirement, maintenance, reboots.
Notices scheduled_notices(const Api& api, hostler_op* op);

/// Those of these instances, one at least, that run on, on the spot market by a request that
/// stands. If EC2 has no notice of one of them any more, it has taken the notice back; of others
/// what it said has happened.
std::set<std::string> undisturbed(const Api& api, const std::vector<std::string>& instances,
                                  hostler_op* op);

/// From a look for notices that failed until the next one, which looks again: twice as long as
/// before, but two minutes at most, or as long as Amazon wants no request (0: it did not say).
std::chrono::milliseconds pause_after_failure(std::chrono::milliseconds before,
                                              std::int64_t retry_after_s);

}  // namespace hostler::ec2
