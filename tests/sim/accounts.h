#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/dispatch/account_commands.h"
#include "core/dispatch/events.h"
#include "tests/sim/disk.h"

namespace hostler::sim {

/// The accounts that hosts really have for holders, whatever the daemon was told. Checks
/// that a lease is granted once its account is there, that no account is closed while its lease is
/// granted, and that a host that has had one gets no other work.
class Accounts {
 public:
  Accounts(const Disk& disk, Disk::Complain complain)
      : disk_(disk), complain_(std::move(complain)) {}

  [[nodiscard]] static dispatch::AccountCommands commands();
  [[nodiscard]] static bool is_one(const model::HostExec& command);
  /// A command for an account has run on its host to its end.
  void ran(const model::RunCommand& command);
  /// Checks an outbox, once its rows are on the disk.
  void committed(const dispatch::Outbox& outbox);
  /// Leases that were granted with a login.
  [[nodiscard]] std::uint64_t granted() const { return granted_.size(); }

 private:
  void check_lease(const model::WorkRecord& record);

  const Disk& disk_;
  Disk::Complain complain_;
  std::map<model::InstanceId, model::WorkId> had_;  ///< By host, the last account that it has had.
  std::set<std::pair<model::InstanceId, model::WorkId>> open_;
  std::set<model::WorkId> granted_;
};

}  // namespace hostler::sim
