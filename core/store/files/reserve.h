#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/mutex.h"

namespace hostler::store {

/// The disk of the state folder, as output sees it, in bytes.
struct DiskRoom {
  /// Without the reserve, and without what keeps it from being low at once.
  std::uint64_t free = 0;
  std::uint64_t total = 0;
};

/// A file of zeros that keeps space on the disk for rows. When the disk is full, rows get this
/// space in parts, and all else has to wait (`is_low`) until the reserve is whole again. The last
/// inodes are kept for rows too: only they may use these. Any thread.
class Reserve {
 public:
  /// Called on the thread that notices it, without a lock: the disk is full, or it has room again.
  using OnChange = std::function<void(bool low)>;

  /// The smaller of 1 GiB and 10 % of the folder's file system.
  static Result<std::uint64_t> usual_bytes(const std::filesystem::path& folder);
  /// `bytes`: its size; 0: there is no reserve, and it is never low. Takes the space, which may
  /// need writing as many bytes on a file system that cannot reserve space; without room for it, it
  /// is low from the beginning.
  static Result<std::unique_ptr<Reserve>> open(const std::filesystem::path& file,
                                               std::uint64_t bytes, OnChange on_change);

  /// Few inodes are left: the reserve is low from now on. Never waits for a write.
  void look_at_inodes();
  /// A write of rows failed. If the disk is full, gives up a part of the reserve. True: it did, so
  /// the write may be tried again at once.
  bool release();
  /// Another write failed. If the disk is full, the reserve is low from now on.
  void check();
  /// Takes back what was given up, once the disk has room for it and for a quarter more, and
  /// inodes. Blocks as open() does. True: the reserve is whole.
  bool refill();

  /// Never waits for a write. Of a disk that cannot be looked at: endless.
  [[nodiscard]] DiskRoom room() const;
  /// Never blocks.
  [[nodiscard]] bool is_low() const { return low_; }

 private:
  Reserve(std::filesystem::path file, UniqueFd fd, std::uint64_t bytes, OnChange on_change);
  [[nodiscard]] bool is_disk_full() HOSTLER_REQUIRES(mutex_);
  [[nodiscard]] bool lacks_inodes() const;
  bool resize(std::uint64_t bytes) HOSTLER_REQUIRES(mutex_);
  void tell(bool low);

  const std::filesystem::path file_;
  const UniqueFd fd_;
  const std::uint64_t bytes_;
  const OnChange on_change_;

  std::atomic<bool> low_ = false;
  Mutex mutex_;
  std::uint64_t held_ HOSTLER_GUARDED_BY(mutex_) = 0;
};

/// The error of all that has to wait while the reserve is low.
Error disk_full();

}  // namespace hostler::store
