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

/// A gang has at most so many leases.
inline constexpr std::uint32_t kGangMax = 1000;

/// A lease as it was submitted: its members are those of the request. `constraints.pools` has the
/// pool that was named, or is empty: any pool that lends so.
struct LeaseSpec : WorkSpec {
  std::uint32_t count = 1;  ///< Of more than one: a gang.
  bool one_zone = false;    ///< The hosts of a gang are in one zone.
  Duration term{};          ///< The member `for`.
  Duration wait_max{};      ///< 0: it waits for ever.
  /// By which the holder logs in, as crypto::parse_login_keys() takes them: "ssh-ed25519 AAAA...".
  std::vector<std::string> ssh_keys;
  std::string notice_command;  ///< sh, run as the holder to tell it of the end; empty: none.
  friend bool operator==(const LeaseSpec&, const LeaseSpec&) = default;
};

/// The part of a lease that work of other kinds does not have: its members are one row. All else is
/// in WorkItem and WorkRecord: `instance` is the host that is lent, `placed` is when the planner
/// chose it, `started` is when the lease was granted.
struct LeaseRecord {
  WorkId id{0, WorkKind::kLease};
  Duration term{};      ///< From the grant on, or from the last renewal.
  Duration wait_max{};  ///< It ends if it was not granted for so long since its submit; 0: never.
  Wall until;           ///< The end of the term; 0: not granted yet.
  bool used = true;     ///< Once it ends: the holder may have changed the host.
  std::vector<std::string> ssh_keys;  ///< As in LeaseSpec. Empty: hostler makes no account.
  std::string notice_command;
  /// Of the account whose opening was sent to the present host, answered or not. From then on
  /// nobody else gets the host.
  Login login = Login::kNone;
  /// The end of which the holder was told last: see AccountNotice. 0: of none, or that it does not
  /// end then any more.
  Wall told;
  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};
/// As a Change: its row is inserted, or replaced.
struct LeaseChanged {
  LeaseRecord record;
  friend bool operator==(const LeaseChanged&, const LeaseChanged&) = default;
};

/// "waiting", "granting", "granted", "ending", "held", and "ended" for each terminal state.
const char* lease_state(WorkState state);

}  // namespace hostler::model
