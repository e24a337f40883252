#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/model/ids.h"

namespace hostler::store {

/// The sizes in the lists of output files that were read lately: a list may be long, and each of
/// its files asks for it. One thread at a time.
class FileSizes {
 public:
  using Sizes = std::vector<std::uint64_t>;

  /// Null: not known.
  [[nodiscard]] const Sizes* find(model::AttemptId attempt) const {
    const auto found = of_.find(attempt);
    return found == of_.end() ? nullptr : &found->second;
  }
  /// Replaces what is known of the attempt. It stays until the next call at least.
  const Sizes* keep(model::AttemptId attempt, Sizes sizes) {
    if (count_ + sizes.size() >= kMost) {
      of_.clear();
      count_ = 0;
    }
    count_ += sizes.size() + 1;
    return &(of_[attempt] = std::move(sizes));
  }

 private:
  static constexpr std::size_t kMost = 1'000'000;

  std::map<model::AttemptId, Sizes> of_;
  std::size_t count_ = 0;  ///< At least what is in all lists.
};

}  // namespace hostler::store
