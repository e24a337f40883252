#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/mutex.h"
#include "core/model/ids.h"

namespace hostler::store {

/// How many bytes of output are kept, in all and of each principal. Files know only the work that
/// they belong to; rows know whose that is, and are asked once for each piece of work. Any thread.
class OutputUse {
 public:
  /// Bytes came, or went if negative; never more than are there.
  void add(model::WorkId work, std::int64_t bytes);
  /// All that was kept at the start is counted.
  void finish_start();

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] bool is_complete() const { return complete_; }
  /// Work with output of which it is not known whose it is.
  [[nodiscard]] std::vector<model::WorkId> unknown() const;
  /// Work without a principal belongs to nobody.
  void know(const std::vector<model::WorkId>& asked,
            const std::map<model::WorkId, std::string>& principals);
  /// Without work of which it is not known whose it is.
  [[nodiscard]] std::uint64_t of(const std::string& principal) const;

 private:
  struct Known {
    std::uint64_t bytes = 0;
    std::uint64_t* sum = nullptr;  ///< In by_principal_.
  };

  mutable Mutex mutex_;
  std::unordered_map<model::WorkId, Known> known_ HOSTLER_GUARDED_BY(mutex_);
  std::unordered_map<model::WorkId, std::uint64_t> unknown_ HOSTLER_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> by_principal_ HOSTLER_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> total_ = 0;
  std::atomic<bool> complete_ = false;
};

}  // namespace hostler::store
