#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "core/hosts/settings.h"

namespace hostler::hosts {

class JumpHost;
class Link;
class OutputRoom;

/// The links to all hosts, on one thread of their own. Commands come from any thread, return at
/// once and are handled in the order of the calls.
class Hosts {
 public:
  Hosts(HostSettings settings, HostPorts ports);
  ~Hosts();  // NOLINT(bugprone-exception-escape)
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  void send(model::HostCommand command);
  /// A start without its spec: `body` is the job as the store keeps it, or null if it keeps none.
  /// The hosts thread parses it, so that no other thread waits for a long job. A body that is no
  /// job ends the attempt with kStartFailed.
  void send_start(model::StartAttempt command, std::shared_ptr<const std::string> body);
  /// Policies of pools by name, for new links and those that exist.
  void set_pools(std::map<std::string, model::PoolPolicy> pools);
  /// Hangs up everywhere and joins the thread; jobs go on. Afterwards no port is called, and
  /// commands and durable output are ignored.
  void stop();

 private:
  void handle(model::HostCommand& command);
  void handle_start(model::StartAttempt& command, const std::string* body);
  [[nodiscard]] const model::PoolPolicy& pool(const std::string& name) const;
  /// That of the set; null: its hosts are reached directly.
  std::shared_ptr<JumpHost> jump_host(const std::string& set);

  const std::shared_ptr<const HostSettings> settings_;
  const std::shared_ptr<const HostPorts> ports_;
  const std::shared_ptr<OutputRoom> room_;          ///< Hosts thread only.
  std::map<std::string, model::PoolPolicy> pools_;  ///< Hosts thread only.
  boost::asio::io_context io_{1};
  /// The first timer opens the descriptors of the event loop. Later there may be none left, and
  /// Asio throws.
  boost::asio::steady_timer opens_loop_{io_};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_;
  /// By set. Hosts thread only.
  std::map<std::string, std::shared_ptr<JumpHost>> jump_hosts_;
  std::map<model::InstanceId, std::shared_ptr<Link>> links_;  ///< Hosts thread only.
  std::thread thread_;
};

}  // namespace hostler::hosts
