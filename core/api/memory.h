#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/api/connection.h"

/// Private to core/api: how much memory requests and answers take. Any thread.
namespace hostler::api {

using MemoryCount = std::shared_ptr<std::atomic<std::uint64_t>>;

/// What one request, or one answer, takes of what all may take together and of what its source (a
/// user, an address) may, in bytes.
class Memory {
 public:
  /// Not counted, so that small requests succeed whatever others send.
  static constexpr std::uint64_t kFree = kPiece;

  Memory(MemoryCount all, MemoryCount of_source, MemoryBounds bounds)
      : all_(std::move(all)), of_source_(std::move(of_source)), bounds_(bounds) {}
  ~Memory() { give_back(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// False: it is too much. It counts all the same until it is given back.
  bool take(std::uint64_t bytes) {
    const auto free = std::min(bytes, free_);
    free_ -= free;
    const std::uint64_t counted = bytes - free;
    if (counted == 0) return true;
    mine_ += counted;
    const bool all_fits = all_->fetch_add(counted) + counted <= bounds_.all;
    // A source may have one that is larger, if it has no other.
    const auto of_source = of_source_->fetch_add(counted) + counted;
    return all_fits && (of_source <= bounds_.of_source || of_source == mine_);
  }
  void give_back() {
    *all_ -= mine_;
    *of_source_ -= std::exchange(mine_, 0);
    free_ = kFree;
  }

 private:
  const MemoryCount all_, of_source_;
  const MemoryBounds bounds_;
  std::uint64_t mine_ = 0;
  std::uint64_t free_ = kFree;
};

}  // namespace hostler::api
