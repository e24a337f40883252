// The inventory: machines that somebody owns, as the config of the set or a file lists them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace inventory {

enum class Condition { free, broken, lent };

struct Machine {
  std::string name, address;
  std::int64_t port = 22, vcpus = 0, ram = 0;  // ram: bytes
  Condition condition = Condition::free;
  std::string text;      // why it is broken, or who has it
  std::string host_key;  // "ssh-ed25519 AAAA...", or empty
};
using Machines = std::map<std::string, Machine>;  // by name

struct Settings {
  std::string machines_file;  // empty: `machines` below is the inventory
  Machines machines;
  std::string state_file, remote_user;
  std::int64_t deploy_ms = 0;
};

// Both throw driver::Error(HOSTLER_E_INVALID) with the path of what is wrong, and what is allowed.
Settings read_settings(const std::string& config_json);
// The inventory as it is now: others change the file.
Machines read_machines(const Settings& settings);

// Throws driver::Error: TRANSIENT if it cannot be read.
std::string read_file(const std::string& path);

}  // namespace inventory
