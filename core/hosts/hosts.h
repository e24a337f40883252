#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <thread>

#include "core/hosts/settings.h"

namespace hostler::hosts {

class Link;

/// The links to all hosts, on one thread of their own. Commands come from any thread.
class Hosts {
 public:
  Hosts(HostSettings settings, HostPorts ports);
  ~Hosts();  // NOLINT(bugprone-exception-escape)
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  void send(model::HostCommand command);
  /// From now on, for new links and those that are there; by name.
  void set_pools(std::map<std::string, model::PoolPolicy> pools);
  /// Hangs up everywhere and joins the thread; jobs go on. No port is called afterwards; what is
  /// sent or said to be durable from then on is dropped.
  void stop();

 private:
  void handle(model::HostCommand& command);
  const model::PoolPolicy& pool(const std::string& name) const;

  const std::shared_ptr<const HostSettings> settings_;
  const std::shared_ptr<const HostPorts> ports_;
  std::map<std::string, model::PoolPolicy> pools_;  ///< Hosts thread only.
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_;
  std::map<model::InstanceId, std::shared_ptr<Link>> links_;  ///< Hosts thread only.
  std::thread thread_;
};

}  // namespace hostler::hosts
