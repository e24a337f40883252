#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sdk/hosts/keeper/network.h"
#include "sdk/hosts/machine/machine.h"
#include "sdk/hosts/protocol/answer.h"

namespace hostler::machines {

/// All machines of a keeper, and the keys and ids of those that were destroyed. Threads: one.
class Fleet {
 public:
  Fleet(Account account, Network& network, int machines_max)
      : account_(std::move(account)), network_(network), machines_max_(machines_max) {}

  /// What the operations of README.md do. All throw a Failure with the error of the answer.
  MachineRecord create(const CreateSpec& spec);
  std::vector<MachineRecord> list() const;
  MachineRecord tag(const Request& request);
  void destroy(const std::string& id);
  const std::string& console(const std::string& id) const;
  KeeperInfo info() const;

  /// Takes the exits of machines. Call it after SIGCHLD.
  void reap();
  /// Those whose consoles may be read. Valid until the next create or destroy.
  std::vector<Machine*> with_console();

 private:
  struct Member {
    int number = 0;
    std::unique_ptr<Machine> machine;
  };
  const Member& member(const std::string& id) const;
  bool was_there(const std::string& id) const;
  std::unique_ptr<Machine> start(const CreateSpec& spec, const std::string& id, int number);

  const Account account_;
  Network& network_;
  const int machines_max_;
  std::map<std::string, Member> members_;    ///< By id.
  std::map<std::string, std::string> keys_;  ///< Ids by key, also of destroyed machines.
  int created_ = 0;
};

}  // namespace hostler::machines
