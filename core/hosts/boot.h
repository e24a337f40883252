#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>

#include "core/hosts/host_context.h"
#include "core/hosts/proposal.h"
#include "core/ssh/init_command.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

/// The boot of a host, as its link sees it: the init command has ended as the pool wants it, and
/// then the boot probe has passed once. Over from the beginning for a host that was ready before
/// the daemon was started. Hosts thread only; the coroutine needs this object and `session` until
/// it ends.
class HostBoot {
 public:
  explicit HostBoot(HostContext& host)
      : host_(host),
        init_ended_(host.target.was_ready),
        is_over_(host.target.was_ready),
        delivery_(host.settings->patience.proposal) {}

  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Looks once. An error: it is not over, and why was reported; try again later.
  boost::asio::awaitable<Result<void>> check(ssh::Session& session);
  /// The answer to a command that check() has proposed: whether it may run now.
  [[nodiscard]] bool begin_command(std::uint64_t proposal);
  void command_ended(std::uint64_t proposal) { delivery_.ended(proposal); }
  /// What was proposed on it is void.
  void connection_ended() { delivery_.drop(); }

 private:
  /// An error as long as the init command runs, and for good if it failed and the pool does not
  /// take such hosts.
  boost::asio::awaitable<Result<void>> check_init(ssh::Session& session);
  /// The host awaits its init command: has it sent there. A few times at most, as a host may not
  /// tell the truth about it.
  void deliver();
  boost::asio::awaitable<Result<void>> probe(ssh::Session& session);
  /// The name of the host in its init script; empty: not known.
  [[nodiscard]] std::string init_instance() const;
  [[nodiscard]] ssh::HostPlace place() const;

  HostContext& host_;
  bool init_ended_;
  bool init_failure_told_ = false;
  bool is_over_;
  CommandProposal delivery_;
  unsigned proposals_ = 0, deliveries_ = 0;
};

/// The id of the boot that the host is in; empty if it does not tell. An error: it does not answer
/// within `limit`.
boost::asio::awaitable<Result<std::string>> read_boot_id(ssh::Session& session, Duration limit);

}  // namespace hostler::hosts
