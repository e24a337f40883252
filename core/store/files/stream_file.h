#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/store/files/folders.h"

namespace hostler::store {

/// Bytes of a stream that were lost before they came here: `length` bytes, after the first `at`
/// bytes of the file.
struct Gap {
  std::uint64_t at = 0, length = 0;
};

/// One stream of an attempt on disk: its bytes are in the file, its gaps in "<file>.gaps", which
/// exists only if there are any. Offsets count the bytes of the stream; the end is the size of the
/// file plus all gaps. One thread at a time.
class StreamFile {
 public:
  /// Creates no file before the first byte. Makes the bytes of an earlier run durable.
  static Result<StreamFile> open(const std::filesystem::path& file, std::uint64_t bytes_max);

  /// Skips bytes before the end, which are there already; an offset beyond the end makes a gap.
  /// Nothing is durable before sync(). A failed call leaves the end where it was. kTooLarge beyond
  /// `bytes_max` bytes in the file.
  Result<void> append(std::uint64_t offset, std::string_view bytes);
  Result<void> sync();

  [[nodiscard]] std::uint64_t end() const { return size_ + missing_; }
  /// What its files count for limits of bytes: see counted() in folders.h.
  [[nodiscard]] std::uint64_t counted() const {
    return store::counted(size_) + store::counted(gaps_bytes_);
  }

 private:
  StreamFile(std::filesystem::path file, std::uint64_t bytes_max)
      : path_(std::move(file)), bytes_max_(bytes_max) {}
  Result<void> make();
  Result<void> add_gap(std::uint64_t length);

  std::filesystem::path path_;
  std::uint64_t bytes_max_;
  UniqueFd fd_;  ///< Unset until the file exists.
  std::vector<Gap> gaps_;
  std::uint64_t size_ = 0, missing_ = 0;  ///< Bytes in the file, and in all gaps.
  std::uint64_t gaps_bytes_ = 0;          ///< Of the file of gaps.
  bool dirty_ = false;
};

/// A piece of a stream as it is on disk.
struct StreamPart {
  std::string data;
  std::uint64_t offset = 0;   ///< Of the first byte of data; after a gap larger than asked for.
  std::uint64_t lost = 0;     ///< Bytes that are missing between the offset asked for and `offset`.
  std::uint64_t end = 0;      ///< Of the stored part of the stream.
  std::uint64_t missing = 0;  ///< Bytes in all gaps of the stored part.
};
/// Up to `max` bytes from `offset`, not across a gap; none at the end, or if there is no file. Any
/// thread, also while the file is written.
Result<StreamPart> read_stream(const std::filesystem::path& file, std::uint64_t offset,
                               std::size_t max);

}  // namespace hostler::store
