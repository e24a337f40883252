#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/cloud.h"
#include "core/model/ids.h"

namespace hostler::dispatch {

/// Shared by a host and by its entry in the last list of its set: the entry told nothing new.
struct Settled {
  bool holds = true;          ///< Nothing has changed the host since.
  Mono shown_at{};            ///< When a list last showed the same entry.
  std::uint64_t in_list = 0;  ///< The number of this list; 0: it is looked at after all.
};

/// The last list of a set. In most lists most entries are equal to those of the list before, and
/// nothing has happened to their hosts since: these are settled, and nobody looks at them again.
class LastList {
 public:
  struct Entry {
    std::shared_ptr<const model::ListedInstance> seen;
    /// Whose it is. In a comparison: whose the entry of this id was, perhaps; none: not known.
    std::optional<model::InstanceId> host;
    std::shared_ptr<Settled> settled;  ///< Null: the entry is to be looked at.
  };

  /// An entry for each of `all`, settled where the last list has the same one at about the same
  /// place. `as_of`: the data are not older than this; of older data than the last no entry is
  /// settled. O(entries): a list in another order than the last is looked at as a whole.
  [[nodiscard]] std::vector<Entry> compare(const model::ListedInstances& all, Mono as_of, Mono now);
  /// The entries, with their hosts and those that were settled since.
  void keep(std::vector<Entry> entries) { entries_ = std::move(entries); }
  /// The comparison has settled entries.
  [[nodiscard]] bool has_settled() const { return has_settled_; }
  /// Of the list that was compared last.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  std::vector<Entry> entries_;
  Mono as_of_ = Mono::min();
  std::uint64_t number_ = 0;
  bool has_settled_ = false;
};

}  // namespace hostler::dispatch
