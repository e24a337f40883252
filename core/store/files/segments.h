#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/model/job.h"

namespace hostler::store {

/// Where the inline output of an attempt is: stdout, then stderr. segment 0: there is none.
struct InlinePlace {
  std::uint64_t segment = 0, offset = 0;
  std::uint32_t stdout_length = 0, stderr_length = 0;
  friend bool operator==(const InlinePlace&, const InlinePlace&) = default;
};

/// Shared files, "segments/<number>", with the small outputs of many attempts one after the other;
/// a row of `attempts` says where. A restart begins a new file. Threads: the store thread;
/// read_segment: any.
class Segments {
 public:
  /// The next number is above the highest file and above `used`, as rows may point into a file that
  /// was removed.
  static Result<Segments> open(const std::filesystem::path& folder, std::uint64_t bytes_max,
                               std::uint64_t used);

  /// Appends stdout, then stderr. Not durable before sync().
  Result<InlinePlace> append(const model::AttemptEnd& end);
  /// Writes the appended bytes, and has the kernel begin to write them to the disk.
  Result<void> flush();
  /// Makes the appended bytes durable with one fdatasync, or none if there are none.
  Result<void> sync();
  /// The rows of the appended bytes are durable: the bytes stay.
  void keep() { kept_ = {number_, offset_}; }
  /// The rows are not there: the next bytes overwrite those appended since keep().
  void discard();
  /// The number of the file that is being written; it must not be removed.
  [[nodiscard]] std::uint64_t current() const { return number_; }

 private:
  Segments(std::filesystem::path folder, std::uint64_t bytes_max)
      : folder_(std::move(folder)), bytes_max_(bytes_max) {}
  Result<void> begin_next();

  std::filesystem::path folder_;
  std::uint64_t bytes_max_;
  std::uint64_t number_ = 0;  ///< Of the open file; or of the last before it is opened.
  std::uint64_t offset_ = 0;  ///< Where the next append begins: file size plus buffer.
  UniqueFd file_;             ///< Opened at the first append.
  std::string buffer_;        ///< Appended, not yet written.
  struct Mark {
    std::uint64_t number = 0, offset = 0;
  } kept_;
  bool unsynced_ = false;
};

std::filesystem::path segment_path(const std::filesystem::path& folder, std::uint64_t number);

/// `length` bytes from `offset`. Any thread; blocks.
Result<std::string> read_segment(const std::filesystem::path& folder, std::uint64_t number,
                                 std::uint64_t offset, std::size_t length);

}  // namespace hostler::store
