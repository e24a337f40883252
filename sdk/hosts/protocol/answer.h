#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/hosts/protocol/request.h"

namespace hostler::machines {

/// A machine as clients see it.
struct MachineRecord {
  std::string id, key, state, address, user, host_key;
  int port = 0;
  std::int64_t created_ms = 0;  ///< Since 1970.
  Tags tags;
};

struct KeeperInfo {
  std::string mode, network, user;
  int machines = 0, machines_max = 0;
};

// Each is a line with its end.
std::string answer_ok();
std::string answer_failure(const std::string& code, const std::string& message);
std::string answer_machine(const MachineRecord& machine);
std::string answer_machines(const std::vector<MachineRecord>& machines);
std::string answer_console(const std::string& text);
std::string answer_info(const KeeperInfo& info);

}  // namespace hostler::machines
