#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/agent/host/system/device_owners.h"
#include "core/agent/host/system/device_program.h"
#include "core/agent/host/system/slot_cgroups.h"
#include "core/base/error.h"
#include "core/model/card.h"

namespace hostler::agent {

/// An attempt that runs, as the device guard sees it.
struct CardHolder {
  std::uint32_t slot = 0;
  std::uint32_t uid = 0;
  std::vector<std::string> files;  ///< The device files of its cards.
};

/// Keeps the processes of each attempt from the device files of cards that are not its own, in the
/// best of three ways that this host has: a device program on the cgroup of the slot; the
/// controller `devices` of v1; the owners of the files. Used by the server's one thread.
class DeviceGuard {
 public:
  /// `cgroups` must outlive the guard, and is open before open().
  explicit DeviceGuard(SlotCgroups& cgroups) : cgroups_(cgroups) {}

  /// Finds out by trying what this host has. `most`: nothing better is tried. The slot 0 is used
  /// for it, whose cgroups the next remove_idle() removes.
  void open(model::CardGuard most);
  /// kOwners protects only attempts with uids of their own, which the guard does not know of.
  [[nodiscard]] model::CardGuard kind() const { return kind_; }

  /// The device files of all cards, from now on. Returns those that are not character devices: the
  /// guard leaves them out. The list counts from the next confine() or share_out() on.
  std::vector<std::string> set_files(const std::vector<std::string>& files);
  [[nodiscard]] bool has_files() const { return !files_.empty(); }

  /// kBpf and kCgroup1: from now on the processes in the slot's cgroup can open, of the files of
  /// cards, the holder's alone.
  Result<void> confine(const CardHolder& holder);
  /// kOwners: each file belongs to its holder, and to root if it has none.
  Result<void> share_out(const std::vector<CardHolder>& holders);
  /// kOwners, also of an earlier server: all files get back the owners that they had before.
  void give_back() { owners_.give_back(); }

 private:
  model::CardGuard best_of(model::CardGuard most);
  /// The present numbers; of files that are gone, the last ones.
  void look_again();

  SlotCgroups& cgroups_;
  HostFiles host_files_;
  DeviceOwners owners_{host_files_};
  model::CardGuard kind_ = model::CardGuard::kNone;
  std::map<std::string, std::optional<DeviceNumber>> files_;  ///< Unset: no character device.
};

}  // namespace hostler::agent
