#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"

namespace hostler::store {

/// Bytes of a stream that fell out before they came here: `length` of them, where the file has
/// `at` bytes.
struct Gap {
  std::uint64_t at = 0, length = 0;
};

/// One stream of an attempt on disk: the bytes that came in the file itself, gaps in "<file>.gaps"
/// beside it, which is made only when there are any. Offsets are the stream's; the end is the
/// file's size and all gaps. One thread at a time.
class StreamFile {
 public:
  /// Nothing is made before the first byte; what a killed run left is made durable at once.
  static Result<StreamFile> open(const std::filesystem::path& file, std::uint64_t bytes_max);

  /// Bytes before the end are known already and skipped; an offset beyond it makes a gap. Nothing
  /// of it is durable before sync(); a failed call leaves the end where it was. kTooLarge beyond
  /// `bytes_max` bytes in the file.
  Result<void> append(std::uint64_t offset, std::string_view bytes);
  Result<void> sync();

  [[nodiscard]] std::uint64_t end() const { return size_ + missing_; }
  /// Bytes in the file.
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  StreamFile(std::filesystem::path file, std::uint64_t bytes_max)
      : path_(std::move(file)), bytes_max_(bytes_max) {}
  Result<void> make();
  Result<void> add_gap(std::uint64_t length);

  std::filesystem::path path_;
  std::uint64_t bytes_max_;
  UniqueFd fd_;  ///< Unset until the file is there.
  std::vector<Gap> gaps_;
  std::uint64_t size_ = 0, missing_ = 0;  ///< Bytes in the file, and in all gaps.
  bool dirty_ = false;
};

/// A piece of a stream as it is on disk.
struct StreamPart {
  std::string data;
  std::uint64_t offset = 0;  ///< Of data's first byte; beyond the one asked for after a gap.
  std::uint64_t lost = 0;    ///< Bytes between the offset asked for and `offset` that fell out.
  std::uint64_t end = 0;     ///< Of the stream as far as it is here.
};
/// Up to `max` bytes from `offset`, not across a gap; none at the end, or if there is no file. Any
/// thread, also while the file is written.
Result<StreamPart> read_stream(const std::filesystem::path& file, std::uint64_t offset,
                               std::size_t max);

}  // namespace hostler::store
