#pragma once

#include <string>

#include "sdk/hosts/machine/namespaces.h"
#include "sdk/hosts/protocol/request.h"

namespace hostler::machines {

/// What the addresses on the bridge begin with. That of the bridge itself, the gateway, ends in 1.
inline constexpr const char* kBridgeAddresses = "10.77.0.";

/// All that the first process of a machine needs to know.
struct BootPlan {
  std::string id;
  Account account;
  CreateSpec spec;
  std::string host_key, host_key_public;
  std::string address;
  int port = 22;
  bool bridge = false;
};

/// What the first process of a machine does: waits for a byte of the descriptor `go`, makes the
/// files and the network of the machine, runs the user data once, and sshd for as long as the
/// machine lives. Its standard output is the console. Returns the exit status, where something is
/// wrong.
int boot_machine(const BootPlan& plan, int go);

}  // namespace hostler::machines
