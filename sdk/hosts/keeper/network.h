#pragma once

#include <sys/types.h>

#include <set>
#include <string>

#include "sdk/drivers/fd.h"

namespace hostler::machines {

/// Gives machines their addresses: of a bridge in a network namespace of the keeper's own, or of
/// 127/8. Numbers are from 1 to kMachinesMax; the next free one is taken in turn, so that an
/// address is not soon another machine's.
class Network {
 public:
  /// Makes the bridge, in the present network namespace; or takes 250 addresses of 127/8 on which
  /// `port` is free. Throws a Failure.
  Network(bool bridge, int port);

  /// Throws a Failure if all numbers are in use.
  int take();
  void give_back(int number) { used_.erase(number); }
  std::string address(int number) const;
  int port() const { return port_; }
  bool is_bridge() const { return bridge_; }

  /// Connects the network of the process `machine` with the bridge. Throws a Failure.
  void connect(int number, pid_t machine);
  /// Removes what connect() made, at once. The kernel would do it a little later.
  void disconnect(int number) const;

 private:
  void make_bridge() const;
  void take_addresses();

  const bool bridge_;
  const int port_;
  std::string prefix_;  ///< Without a bridge: "127.X.Y."
  driver::Fd claim_;    ///< A socket that tells other keepers that the addresses are taken.
  std::set<int> used_;
  int last_ = 0;
};

}  // namespace hostler::machines
