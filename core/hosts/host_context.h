#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "core/hosts/output_room.h"
#include "core/hosts/reach.h"
#include "core/hosts/settings.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

class JumpHost;

/// What the parts of one link share: the host, the policy of its pool, and the way to report
/// events of the host. Hosts thread only.
class HostContext {
 public:
  /// `jump`: through which the host is reached, or null.
  HostContext(std::shared_ptr<const HostSettings> settings, std::shared_ptr<const HostPorts> ports,
              std::shared_ptr<OutputRoom> room, std::shared_ptr<JumpHost> jump,
              model::PoolPolicy pool, model::HostTarget target);

  /// Connects to the address of the target and exchanges keys; `key_type` as in ConnectRequest.
  boost::asio::awaitable<Result<std::unique_ptr<ssh::Session>>> connect(std::string key_type);

  /// Posts an event of this host, unless stop_reports() was called.
  void report(model::HostEventBody body);
  /// Reports why a step failed. The same failure twice in a row is reported once, because links
  /// try again often.
  void report_not_yet(const std::string& step, const std::string& text);
  /// The host has sent something just now.
  void heard() { heard_at_ = std::chrono::steady_clock::now(); }
  /// Since the host was last heard. At most two pings' time: if it is more, this thread was held
  /// up, and the host may have answered.
  [[nodiscard]] Duration silent() const;
  /// The time between two pings, and the time for an answer.
  [[nodiscard]] Duration ping_interval() const;
  /// The host is ready: report the next failure even if it equals the last one.
  void forget_last_failure() { last_failure_.clear(); }
  /// A start cannot be sent because of the host or the job. Reported also after stop_reports(), as
  /// refuse_unsent() is: no attempt must wait for its start.
  void refuse(model::AttemptId attempt, const std::string& why) const;
  /// A start was not sent because the connection ended, or because its job was cancelled.
  void refuse_unsent(model::AttemptId attempt, const std::string& why) const;

  void stop_reports() { stopped_ = true; }
  [[nodiscard]] bool is_stopped() const { return stopped_; }

  [[nodiscard]] const HostSettings::Set& set() const { return set_; }
  /// "host h-7", for the log.
  [[nodiscard]] std::string name() const { return "host " + target.instance.text(); }

  const std::shared_ptr<const HostSettings> settings;
  const std::shared_ptr<const HostPorts> ports;
  const std::shared_ptr<OutputRoom> room;  ///< Of all hosts.
  model::PoolPolicy pool;
  model::HostTarget target;

 private:
  /// The text, which then names the jump host, if there is one.
  [[nodiscard]] std::string routed(const std::string& text) const;

  const std::shared_ptr<JumpHost> jump_;
  Reach reach_;                   ///< Through the jump host.
  const HostSettings::Set& set_;  ///< Of `settings`.
  bool stopped_ = false;
  std::chrono::steady_clock::time_point heard_at_;
  std::string last_failure_;
};

}  // namespace hostler::hosts
