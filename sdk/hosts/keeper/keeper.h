#pragma once

#include <string>
#include <vector>

#include "sdk/drivers/fd.h"
#include "sdk/hosts/keeper/connection.h"
#include "sdk/hosts/keeper/fleet.h"

namespace hostler::machines {

struct KeeperSettings {
  bool bridge = false;
  int port = 2222;
  int machines_max = kMachinesUsual;
};

/// The process that keeps machines: serves clients until it is told to end, or `life` hangs up
/// because the process that watches it has died. Its destructor ends all machines. Threads: one.
class Keeper {
 public:
  /// In the namespaces of enter_keeper_namespaces. Throws a Failure.
  Keeper(const KeeperSettings& settings, const Account& account, std::string token,
         driver::Fd life);

  /// "127.0.0.1:PORT".
  const std::string& endpoint() const { return endpoint_; }
  void run();

 private:
  void accept_client();
  /// True if the client may stay.
  bool serve(Connection& client, short events);
  std::string answer(const std::string& line);
  std::string perform(const Request& request);

  const std::string token_;
  const driver::Fd life_;
  driver::Fd signals_, listening_;
  std::string endpoint_;
  Network network_;
  Fleet fleet_;
  std::vector<Connection> clients_;
  bool ends_ = false;
};

}  // namespace hostler::machines
