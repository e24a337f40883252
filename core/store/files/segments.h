#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/model/job.h"

namespace hostler::store {

/// Where the inline output of an attempt lies: stdout, then stderr. segment 0: there is none.
struct InlinePlace {
  std::uint64_t segment = 0, offset = 0;
  std::uint32_t stdout_length = 0, stderr_length = 0;
  friend bool operator==(const InlinePlace&, const InlinePlace&) = default;
};

/// Shared files in which the small outputs of many attempts lie one after the other; a row of
/// `attempts` says where. "segments/<number>", appended only, never written again after a restart.
/// Threads: the store's, but for read_segment.
class Segments {
 public:
  /// Goes on with the number after the highest there, and after `used`: rows may point into what
  /// is there no more.
  static Result<Segments> open(const std::filesystem::path& folder, std::uint64_t bytes_max,
                               std::uint64_t used);

  /// Appends stdout, then stderr. Not durable before sync().
  Result<InlinePlace> append(const model::AttemptEnd& end);
  /// Writes what was appended and has the kernel begin to move it to the disk.
  Result<void> flush();
  /// Makes what was appended durable: one fdatasync, none if nothing was.
  Result<void> sync();
  /// The rows of what was appended are durable: it stays.
  void keep() { kept_ = {number_, offset_}; }
  /// They are not: what was appended since keep() is overwritten by what comes.
  void discard();
  /// The one that is being written; it must not be removed.
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

/// `length` bytes from `offset`. Any thread; blocking.
Result<std::string> read_segment(const std::filesystem::path& folder, std::uint64_t number,
                                 std::uint64_t offset, std::size_t length);

}  // namespace hostler::store
