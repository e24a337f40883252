#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"

namespace hostler::ssh {

/// Looks up the addresses of names by getaddrinfo, which blocks and cannot be interrupted: on a few
/// threads of its own. Those who ask for more names than that wait for their turn, so whoever names
/// hosts whose name server is dead delays only those who share this object.
///
/// Threads: any; the threads of lookups may outlive this object. Cancellation: as in session.h.
class NameResolver {
 public:
  using Addresses = std::vector<boost::asio::ip::address>;
  using LookUp = std::function<Result<Addresses>(const std::string& name)>;

  static constexpr unsigned kThreadsMax = 4;

  NameResolver();
  explicit NameResolver(LookUp look_up);

  /// `limit`: also for the time until its turn.
  boost::asio::awaitable<Result<Addresses>> resolve(std::string name, Duration limit);

 private:
  class Queue;
  class Question;

  const std::shared_ptr<Queue> queue_;
};

}  // namespace hostler::ssh
