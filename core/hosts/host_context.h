#pragma once

#include <memory>
#include <string>

#include "core/hosts/settings.h"

namespace hostler::hosts {

/// What the parts of one link share: the host, the policy of its pool, and the way to report
/// events of the host. Hosts thread only.
class HostContext {
 public:
  HostContext(std::shared_ptr<const HostSettings> settings, std::shared_ptr<const HostPorts> ports,
              model::PoolPolicy pool, model::HostTarget target);

  /// Posts an event of this host, unless stop_reports() was called.
  void report(model::HostEventBody body);
  /// Reports why a step failed. The same failure twice in a row is reported once, because links
  /// try again often.
  void report_not_yet(const std::string& step, const std::string& text);
  /// The host is ready: report the next failure even if it equals the last one.
  void forget_last_failure() { last_failure_.clear(); }
  /// A start that was never sent is refused, also after stop_reports(): no attempt must wait for
  /// it.
  void refuse(model::AttemptId attempt, const std::string& why) const;

  void stop_reports() { stopped_ = true; }
  [[nodiscard]] bool is_stopped() const { return stopped_; }

  [[nodiscard]] const HostSettings::Set& set() const { return set_; }
  /// "host h-7", for the log.
  [[nodiscard]] std::string name() const { return "host " + target.instance.text(); }

  const std::shared_ptr<const HostSettings> settings;
  const std::shared_ptr<const HostPorts> ports;
  model::PoolPolicy pool;
  model::HostTarget target;

 private:
  const HostSettings::Set& set_;  ///< Of `settings`.
  bool stopped_ = false;
  std::string last_failure_;
};

}  // namespace hostler::hosts
