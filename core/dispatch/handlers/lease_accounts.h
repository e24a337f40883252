#pragma once

#include <chrono>

#include "core/dispatch/account_commands.h"
#include "core/dispatch/state/host_commands.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/leases.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// The accounts by which holders log in on their hosts: sends the commands that open them, tell
/// their holders of the end, and close them. LeaseEvents goes on when these have ended.
class LeaseAccounts {
 public:
  LeaseAccounts(const model::SitePolicy& policy, const Sets& sets, Hosts& hosts, Leases& leases,
                HostCommands& commands, Recorder& recorder, const AccountCommands& make)
      : policy_(policy),
        sets_(sets),
        hosts_(hosts),
        leases_(leases),
        commands_(commands),
        recorder_(recorder),
        make_(make) {}

  /// The kind of account that the lease gets on a host of this pool.
  [[nodiscard]] static model::Login login_of(const work::Lease& lease,
                                             const model::PoolPolicy& pool);
  /// Sends the command that opens the account. Does nothing while one is under way, or the host is
  /// not connected: its next connection calls again.
  void open(const Host& host, const work::Lease& lease, Now now);
  /// Sends the command that closes the account. While the account is being opened it does nothing:
  /// the end of the opening calls again. False: the host is not connected.
  bool close(const Host& host, model::WorkId lease, Now now);
  /// Closes the account of a lease that has left the host or ended: the host may be kept.
  void close_left(model::InstanceId on, model::WorkId lease, Now now);
  /// Tells the holder of a granted lease of its end if it is time for that, and else sets the time.
  void tell(const Host& host, work::Lease& lease, Now now);
  /// Calls tell() for the lease that has the host.
  void tell(const Host& host, Now now);
  /// The command that gives the notice has ended. If nobody knows how, the notice is given again on
  /// the next connection.
  void told(work::Lease& lease, CommandResult result, Now now);
  /// How long after the term the processes of the account may go on.
  [[nodiscard]] Duration grace_of(const Host& host) const;
  /// The host is in a set whose rows may be old: nothing is done to it now. Callers look again
  /// after kSuspended.
  [[nodiscard]] bool is_suspended(const Host& host) const;
  /// Some rows may be old: leases without a host do not end now.
  [[nodiscard]] bool are_rows_doubted() const { return sets_.with_doubted_rows() != nullptr; }
  static constexpr Duration kSuspended = std::chrono::seconds(10);

 private:
  struct End {
    Wall at;
    bool is_interruption = false;
    bool is_far = false;  ///< It is too early to tell the holder.
  };
  [[nodiscard]] End end_of(const Host& host, const work::Lease& lease, Now now) const;
  [[nodiscard]] Duration notice_before(const Host& host) const;
  void send_notice(const Host& host, const work::Lease& lease, const End& end, Now now);

  const model::SitePolicy& policy_;
  const Sets& sets_;
  Hosts& hosts_;
  Leases& leases_;
  HostCommands& commands_;
  Recorder& recorder_;
  const AccountCommands& make_;
};

}  // namespace hostler::dispatch
