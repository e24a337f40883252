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

/// Places for attempts. A slot is a working folder, and, where the agent is root, the uid that goes
/// with it; an attempt has one from its start to its acknowledgement. A folder that comes back as
/// it was given out is given out again: making and removing one costs more than starting a program.
class Slots {
 public:
  /// Makes work/. Then occupy() for what is in use; then discard_rest().
  Result<void> open();
  void occupy(std::uint32_t slot) { used_.insert(slot); }
  [[nodiscard]] const std::set<std::uint32_t>& used() const { return used_; }
  /// Folders that no known attempt has go to the cleaner; a slot whose folder stays is in use.
  void discard_rest(Cleaner& cleaner);

  /// The lowest free slot, counted from 1; nullopt if `max` (0: no bound) are in use.
  std::optional<std::uint32_t> take(std::uint32_t max);
  /// True if the slot's folder exists, empty, for this uid; else it is to be made.
  bool is_ready(std::uint32_t slot, std::uint32_t uid, Cleaner& cleaner);
  /// A slot whose folder cannot be got rid of is given out no more.
  void give_back(std::uint32_t slot, std::uint32_t uid, Cleaner& cleaner);

 private:
  std::set<std::uint32_t> used_;
  std::map<std::uint32_t, std::uint32_t> ready_;  ///< Clean folders of free slots, and their uid.
};

}  // namespace hostler::agent
