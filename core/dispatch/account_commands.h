#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/host.h"
#include "core/model/lease_account.h"

namespace hostler::dispatch {

/// The commands for the accounts of leases, see core/ssh/account.h; `owner` is still to be filled
/// in. The daemon uses core/ssh, the simulation has some of its own. Unset where no pool lends with
/// a login.
struct AccountCommands {
  std::function<model::HostExec(const model::LeaseAccount&, const std::vector<std::string>& keys)>
      open;
  std::function<model::HostExec(const model::LeaseAccount&)> close;
  std::function<model::HostExec(const model::LeaseAccount&, const model::AccountNotice&)> notify;
  /// Prints the names of those that a host has, one on a line.
  std::function<model::HostExec()> find = {};
};

}  // namespace hostler::dispatch
