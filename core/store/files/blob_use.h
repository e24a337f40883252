#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/mutex.h"

namespace hostler::store {

/// Who uploaded a blob, and how much they may have.
struct BlobOwner {
  std::string principal;
  std::optional<std::int64_t> bytes_max = {};  ///< Unset: no limit.
};

/// How many bytes of blobs each principal has: of those that it was the first to upload, and of its
/// uploads that are under way. "SHA256.by" beside a blob names it. Any thread; the first call that
/// needs to know reads all names.
class BlobUse {
 public:
  explicit BlobUse(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// kOverQuota beyond the owner's limit; then nothing is taken.
  Result<void> take(const BlobOwner& owner, std::uint64_t bytes);
  void give_back(const std::string& principal, std::uint64_t bytes);
  [[nodiscard]] Result<std::uint64_t> of(const std::string& principal);

  /// Moves an upload to the blob's place, and the file with its principal's name (empty: none)
  /// beside it. Of a blob that was there before the bytes are given back: they count for the one
  /// who came first. The caller makes the folder durable.
  Result<void> keep(const std::filesystem::path& upload, const std::filesystem::path& named,
                    const std::filesystem::path& blob, const std::string& principal,
                    std::uint64_t bytes);
  /// Removes a blob, if it is there.
  Result<void> remove(const std::filesystem::path& blob);

 private:
  Result<void> load() HOSTLER_REQUIRES(mutex_);
  void lower(const std::string& principal, std::uint64_t bytes) HOSTLER_REQUIRES(mutex_);

  const std::filesystem::path folder_;
  Mutex mutex_;
  bool loaded_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::map<std::string, std::uint64_t> bytes_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::store
