#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/time.h"
#include "core/crypto/hash.h"
#include "core/store/files/blob_use.h"

namespace hostler::store {

/// One upload; if it is destroyed before finish(), nothing is left of it. One thread; blocks.
class BlobUpload {
 public:
  ~BlobUpload();
  BlobUpload(const BlobUpload&) = delete;
  BlobUpload& operator=(const BlobUpload&) = delete;

  /// kTooLarge beyond the limit; kOverQuota beyond that of the owner.
  Result<void> append(std::string_view bytes);
  /// Makes the blob durable under its name. kInvalidArgument if the content has another hash.
  Result<void> finish();

 private:
  friend class Blobs;
  BlobUpload() = default;

  std::filesystem::path path_, part_;
  std::string sha256_;
  std::uint64_t size_ = 0, bytes_max_ = 0;
  std::shared_ptr<BlobUse> use_;
  BlobOwner owner_;
  std::uint64_t taken_ = 0;  ///< Of use_, until the blob is kept.
  UniqueFd fd_;  ///< Unset if the blob was there already: then only its hash is compared.
  crypto::Sha256 hash_;
};

/// Inputs of jobs, by the hash of their content: "blobs/<first two digits>/<sha256>". Any thread;
/// blocks.
class Blobs {
 public:
  /// Removes unfinished uploads of an earlier run.
  static Result<Blobs> open(const std::filesystem::path& folder, std::uint64_t blob_bytes_max);

  /// `sha256`: 64 lower-case hexadecimal digits, else kInvalidArgument.
  Result<std::unique_ptr<BlobUpload>> begin(std::string_view sha256, BlobOwner owner = {}) const;
  /// What the blobs and uploads of a principal have. Reads all names the first time.
  Result<std::uint64_t> bytes_of(const std::string& principal) const { return use_->of(principal); }
  /// If the blob exists, it is also kept for another day.
  Result<bool> exists(std::string_view sha256) const;
  /// Open for reading, from its beginning. kNotFound if there is none.
  Result<UniqueFd> open_blob(std::string_view sha256) const;
  Result<std::uint64_t> size(std::string_view sha256) const;

  /// The hashes of blobs that were last uploaded or asked for before `time`.
  Result<std::set<std::string>> older_than(Wall time) const;
  /// Removes the blob if it still is older than `time`.
  Result<void> remove(std::string_view sha256, Wall time) const;

 private:
  Blobs(std::filesystem::path folder, std::uint64_t blob_bytes_max)
      : folder_(std::move(folder)),
        blob_bytes_max_(blob_bytes_max),
        use_(std::make_shared<BlobUse>(folder_)) {}
  [[nodiscard]] Result<std::filesystem::path> path_of(std::string_view sha256) const;

  std::filesystem::path folder_;
  std::uint64_t blob_bytes_max_;
  std::shared_ptr<BlobUse> use_;
};

}  // namespace hostler::store
