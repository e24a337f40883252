#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "core/model/records.h"

namespace hostler::dispatch {

/// What the journal cannot know: the time between a backup and the start that went on from it. The
/// numbers of work that were given out then are never given out again.
class LostTime {
 public:
  void restore(const model::Restored& restored) {
    left_out_ = restored.left_out;
    epoch_ = restored.restored_epoch;
    for (const auto id : restored.taken_over) take(id);
    for (const auto& item : restored.work)
      if (is_left_out(item.record.id)) take(item.record.id);
  }
  /// An instance of this epoch was made before the last restore, so it may have such work.
  [[nodiscard]] bool may_have_work(std::uint64_t epoch) const { return epoch < epoch_; }
  /// The work has such a number, and no work of that number, of any kind, was taken over yet.
  [[nodiscard]] bool has(model::WorkId work) const {
    return is_left_out(work) && !taken_.contains(work.value);
  }
  /// It is taken over: once.
  void take(model::WorkId work) { taken_.insert(work.value); }

  /// The work has such a number, taken over or not.
  [[nodiscard]] bool is_left_out(model::WorkId work) const {
    return std::ranges::any_of(left_out_,
                               [&](const auto& one) { return one.contains(work.value); });
  }

 private:
  std::vector<model::LeftOut> left_out_;
  std::uint64_t epoch_ = 0;  ///< Of the first start after the restore; 0: there was none.
  std::unordered_set<std::uint64_t> taken_;  ///< Numbers: a host may report any kind.
};

}  // namespace hostler::dispatch
