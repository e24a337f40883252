#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fd.h"
#include "folder/fields.h"
#include "folder/process.h"

namespace hostler::local {

/// The state that the driver wants for an instance. The supervisor brings it about.
enum class Wanted : std::uint8_t { kRunning, kStopped, kDestroyed };

/// An order of the driver to the supervisor.
struct Order {
  Wanted wanted = Wanted::kRunning;
  bool graceful = false;  ///< Send TERM to the processes before they are killed.
};

/// The progress of the supervisor. `kNew`: it has never run.
enum class Phase : std::uint8_t { kNew, kBooting, kRunning, kStopped, kFailed };

/// The present state. Only the supervisor writes it, and only while it holds the instance's lock.
struct State {
  Phase phase = Phase::kNew;
  std::string reason;           ///< Why it failed.
  std::string boot_id;          ///< New at each start.
  std::int64_t generation = 0;  ///< Number of starts.
  std::int64_t launched_unix_ns = 0;
  std::string confinement;  ///< "namespaces" or "subreapers"
  Process keeper, machine;  ///< The two processes of the supervisor.
};

/// The parameters with which the supervisor boots the machine. Written at create, never changed.
struct BootPlan {
  std::string sshd;                  ///< Absolute path.
  std::string account;               ///< Logins use this account.
  std::string confinement = "auto";  ///< auto, namespaces or subreapers
  std::int64_t delay_ms = 0;         ///< Time between power on and boot.
  std::int64_t init_wait_ms = 5000;  ///< sshd waits this long for the user data.
  std::int64_t sshd_delay_ms = 0;    ///< -1: sshd never starts.
  /// The host key changes this time after sshd answers; -1: never.
  std::int64_t key_change_ms = -1;
  std::int64_t ram_bytes = 0;  ///< That the machine says it has; 0: it says nothing.
  /// Mount `shadow` over /etc/shadow, because the account is locked there.
  bool own_shadow = false;
};

/// The folder of one instance, with the names of all its files. Another process may remove it at
/// any time; afterwards reads return nothing and writes throw ENOENT.
class InstanceFolder {
 public:
  explicit InstanceFolder(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

  std::string lock() const { return path_ + "/lock"; }
  std::string record() const { return path_ + "/record"; }  ///< The Record.
  std::string tags() const { return path_ + "/tags"; }
  std::string host_key() const { return path_ + "/host_key"; }
  std::string other_host_key() const { return path_ + "/host_key.other"; }  ///< For the test dial.
  std::string authorized_keys() const { return path_ + "/authorized_keys"; }
  std::string sshd_config() const { return path_ + "/sshd_config"; }
  /// The part of the config that is new at each boot.
  std::string sshd_boot_config() const { return path_ + "/sshd_boot_config"; }
  std::string sshd_log() const { return path_ + "/sshd.log"; }
  std::string console() const { return path_ + "/console.log"; }  ///< Output of the boot.
  /// Removed after it has run, if it is a script.
  std::string user_data() const { return path_ + "/user_data"; }
  std::string agent() const { return path_ + "/agent"; }    ///< Folder for hostler's agent.
  std::string home() const { return path_ + "/home"; }      ///< Folder: $HOME of sessions.
  std::string passwd() const { return path_ + "/passwd"; }  ///< Its own /etc/passwd.
  std::string shadow() const { return path_ + "/shadow"; }
  /// FIFO: a byte means "read the order again".
  std::string control() const { return path_ + "/control"; }

  /// Removes the folder; the record last, so that an interrupted removal can be recognised.
  void remove() const;

  /// kRunning if the order is missing or unreadable. (A folder is published with its order.)
  Order order() const;
  void give_order(const Order& order) const;
  /// Wakes the supervisor. False: no supervisor is listening.
  bool poke() const;

  State state() const;
  void set_state(const State& state) const;

  BootPlan boot_plan() const;
  void set_boot_plan(const BootPlan& plan) const;

 private:
  std::string path_;
};

}  // namespace hostler::local
