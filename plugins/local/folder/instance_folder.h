#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "folder/fd.h"
#include "folder/fields.h"
#include "folder/process.h"

namespace hostler::local {

/// What the driver wants of an instance. The supervisor works towards it.
enum class Wanted : std::uint8_t { kRunning, kStopped, kDestroyed };

struct Order {
  Wanted wanted = Wanted::kRunning;
  bool graceful = false;  ///< Ask its processes to end before they are killed.
};

/// How far the supervisor is. `kNew`: it has never run.
enum class Phase : std::uint8_t { kNew, kBooting, kRunning, kStopped, kFailed };

/// Written by the supervisor alone, and only with the instance's lock.
struct State {
  Phase phase = Phase::kNew;
  std::string reason;           ///< Why it failed.
  std::string boot_id;          ///< New at each start.
  std::int64_t generation = 0;  ///< How often it was started.
  std::int64_t launched_unix_ns = 0;
  std::string confinement;  ///< "namespaces" or "subreapers"
  Process keeper, machine;  ///< The outer and the inner of the supervisor's two processes.
};

/// What the supervisor needs to know to boot the machine. Fixed at create.
struct BootPlan {
  std::string sshd;                  ///< Absolute path.
  std::string account;               ///< Who logs in.
  std::string confinement = "auto";  ///< auto, namespaces or subreapers
  std::int64_t delay_ms = 0;         ///< Between power on and boot.
  std::int64_t init_wait_ms = 5000;  ///< sshd waits for the init command that long.
  std::int64_t sshd_delay_ms = 0;    ///< -1: sshd never starts.
  std::int64_t key_change_ms = -1;   ///< The host key is changed so long after sshd answers.
  bool own_shadow = false;  ///< `shadow` lies over /etc/shadow, where the account is locked.
};

/// One instance's folder: all of its files, by name. Another process may remove it at any time;
/// then reads give nothing and writes throw ENOENT.
class InstanceFolder {
 public:
  explicit InstanceFolder(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

  std::string lock() const { return path_ + "/lock"; }
  std::string record() const { return path_ + "/record"; }  ///< What it is; never changes.
  std::string tags() const { return path_ + "/tags"; }
  std::string host_key() const { return path_ + "/host_key"; }
  std::string other_host_key() const { return path_ + "/host_key.other"; }  ///< Of the test dial.
  std::string authorized_keys() const { return path_ + "/authorized_keys"; }
  std::string sshd_config() const { return path_ + "/sshd_config"; }
  /// The part of it that is new at each boot.
  std::string sshd_boot_config() const { return path_ + "/sshd_boot_config"; }
  std::string sshd_log() const { return path_ + "/sshd.log"; }
  std::string console() const { return path_ + "/console.log"; }  ///< Output of boot.
  std::string init() const { return path_ + "/init"; }            ///< Removed once it has run.
  std::string user_data() const { return path_ + "/user_data"; }  ///< Likewise, if it is a script.
  std::string agent() const { return path_ + "/agent"; }          ///< Folder for hostler's agent.
  std::string home() const { return path_ + "/home"; }            ///< Folder: $HOME of sessions.
  std::string passwd() const { return path_ + "/passwd"; }        ///< Its own /etc/passwd.
  std::string shadow() const { return path_ + "/shadow"; }
  std::string control() const { return path_ + "/control"; }  ///< FIFO: "look at the order again"

  /// Removes the folder; its identity goes last, so that a removal cut short is known as one.
  void remove() const;

  /// Missing or unreadable order: kRunning (a folder appears whole, with its order).
  Order order() const;
  void give_order(const Order& order) const;
  /// Wakes the supervisor up. False: nobody listens.
  bool poke() const;

  State state() const;
  void set_state(const State& state) const;

  BootPlan boot_plan() const;
  void set_boot_plan(const BootPlan& plan) const;

 private:
  std::string path_;
};

}  // namespace hostler::local
