#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/agent/host/attempt/cleaner.h"
#include "core/base/error.h"

namespace hostler::agent {

/// "work/7": the working folder of slot 7.
std::string work_path(std::uint32_t slot);

/// The slots of this host. A slot is a working folder and, where the agent is root, a uid. An
/// attempt holds a slot from its start to its acknowledgement. A folder that is still empty when
/// its slot is freed is used again, because creating and removing a folder costs more than starting
/// a program.
class Slots {
 public:
  /// Creates work/. Afterwards call occupy() for each slot in use, and then discard_rest().
  Result<void> open();
  void occupy(std::uint32_t slot) { used_.insert(slot); }
  [[nodiscard]] const std::set<std::uint32_t>& used() const { return used_; }
  /// Gives the folders of free slots to the cleaner. A slot whose folder cannot be removed counts
  /// as used.
  void discard_rest(Cleaner& cleaner);

  /// Takes the lowest free slot, counted from 1. nullopt if `max` slots are in use; `max` 0: no
  /// limit.
  std::optional<std::uint32_t> take(std::uint32_t max);
  /// True if the slot's folder exists, is empty and belongs to `uid`. Otherwise the shim has to
  /// create it.
  bool is_ready(std::uint32_t slot, std::uint32_t uid, Cleaner& cleaner);
  /// Frees a slot. A slot whose folder cannot be removed stays used.
  void give_back(std::uint32_t slot, std::uint32_t uid, Cleaner& cleaner);

 private:
  std::set<std::uint32_t> used_;
  std::map<std::uint32_t, std::uint32_t> ready_;  ///< Free slots with an empty folder; their uids.
};

}  // namespace hostler::agent
