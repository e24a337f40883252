#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/ids.h"
#include "core/model/job.h"
#include "core/model/lease_account.h"

namespace hostler::model {

/// The shortest and the longest time for which a pool may lend a host.
inline constexpr Duration kTermMin = std::chrono::seconds(1), kTermMax = std::chrono::days(365);

/// The most leases of a gang.
inline constexpr std::uint32_t kGangMax = 1000;

/// A lease as it was submitted: its members are those of the request. `constraints.pools` has the
/// pool that was named, or is empty: any pool that lends so.
struct LeaseSpec : WorkSpec {
  std::uint32_t count = 1;  ///< How many leases are asked for; more than one are a gang.
  bool one_zone = false;    ///< The hosts of a gang are in one zone.
  Duration term{};          ///< The member `for`.
  Duration wait_max{};      ///< 0: it waits for ever.
  /// The holder logs in with these, which crypto::parse_login_keys() takes: "ssh-ed25519 AAAA...".
  std::vector<std::string> ssh_keys;
  std::string notice_command;  ///< sh, run as the holder to tell it of the end; empty: none.
  friend bool operator==(const LeaseSpec&, const LeaseSpec&) = default;
};

/// The part of a lease that other kinds of work do not have: its members are one row. All else is
/// in WorkItem and WorkRecord: `instance` is the host that is lent, `placed` is when the planner
/// chose it, `started` is when the lease was granted.
struct LeaseRecord {
  WorkId id{0, WorkKind::kLease};
  Duration term{};      ///< From the grant on, or from the last renewal.
  Duration wait_max{};  ///< How long after its submit it ends if it was not granted; 0: never.
  Wall until;           ///< The end of the term; 0: not granted yet.
  bool used = true;     ///< Once it ends: the holder may have changed the host.
  std::vector<std::string> ssh_keys;  ///< LeaseSpec::ssh_keys; empty: hostler makes no account.
  std::string notice_command;
  /// Whose account it is that was to be opened on the present host. It is set before the command is
  /// sent; from then on nobody else gets the host.
  Login login = Login::kNone;
  /// The end that the last AccountNotice told the holder. 0: it was told of none, or that the one
  /// it was told of does not hold any more.
  Wall told;
  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};
/// A Change: the row of the lease is inserted, or replaced.
struct LeaseChanged {
  LeaseRecord record;
  friend bool operator==(const LeaseChanged&, const LeaseChanged&) = default;
};

/// "waiting", "granting", "granted", "ending", "held", and "ended" for each terminal state.
const char* lease_state(WorkState state);

}  // namespace hostler::model
