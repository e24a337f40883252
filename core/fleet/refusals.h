#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/time.h"
#include "core/model/ids.h"

namespace hostler::fleet {

struct RefusedStart {
  model::WorkId work;
  std::uint64_t sequence = 0;
  bool tried = true;  ///< As AttemptRefused::tried.
};

/// Starts that a host has refused, in a row, and its rest from starts. A restart forgets them.
class Refusals {
 public:
  /// Whether the refusal of this start counts anew; `last_sent`: the sequence of the last start.
  /// Starts that were sent up to now do not count again.
  [[nodiscard]] bool counts_anew(const RefusedStart& start, std::uint64_t last_sent);
  /// The host had no room for a start. How often that was so in a row.
  [[nodiscard]] std::uint32_t was_full() { return ++full_in_a_row_; }
  /// The host could not start it. `anew`: as counts_anew() has said.
  void refused(const RefusedStart& start, bool anew);
  /// An attempt with this sequence has ended, or runs: the host could start it.
  void held(std::uint64_t sequence);
  /// An attempt has ended, so the host has room again. True: it was full before.
  [[nodiscard]] bool has_room_again();
  /// Another boot of the host numbers its starts from the beginning.
  void new_boot() { counted_until_ = last_ = 0; }

  /// Its agent has lost its own folder: what it refuses says nothing of the job.
  void lost_folder() { has_lost_folder_ = true; }
  [[nodiscard]] bool has_lost_folder() const { return has_lost_folder_; }

  /// It gets no starts.
  void rest() { resting_ = true; }
  /// True: it rested until now.
  bool end_rest();

  [[nodiscard]] bool is_resting() const { return resting_; }
  [[nodiscard]] std::uint32_t in_a_row() const { return in_a_row_; }
  /// The host is broken: so many in a row are no chance.
  [[nodiscard]] bool are_too_many() const;

 private:
  bool resting_ = false;
  bool has_lost_folder_ = false;
  std::uint32_t in_a_row_ = 0;
  std::vector<model::WorkId> jobs_;  ///< Different ones of these that it tried and could not start.
  std::uint64_t counted_until_ = 0;  ///< Refusals of starts up to this sequence count as one.
  std::uint64_t last_ = 0;           ///< Sequence of the last start that was refused.
  std::uint32_t full_in_a_row_ = 0;
};

}  // namespace hostler::fleet
