#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/agent/host/system/os.h"
#include "core/agent/protocol.h"

/// The spool keeps one output stream of an attempt on the host: its first `head_max` bytes (the
/// head) and its last `tail_max` bytes (the tail, a ring buffer), in one file of at most that size.
/// A stream of up to kInlineMax bytes stays in memory and is sent with the exit.
namespace hostler::agent {

/// "out/42.1.0": the file that the shim writes and the server reads.
std::string spool_path(model::AttemptId attempt, std::uint32_t stream);

/// Where the bytes of a stream are in its spool file.
struct SpoolShape {
  std::uint64_t head_max = 0;
  std::uint64_t tail_max = 0;

  /// Position in the file of the stream's byte at `offset`.
  [[nodiscard]] std::uint64_t place(std::uint64_t offset) const;
  /// Number of bytes from `offset` on that are contiguous in the file; 0: they are not kept.
  [[nodiscard]] std::uint64_t run(std::uint64_t offset) const;
  /// The first offset, at or after `offset`, that is kept of a complete stream of `total` bytes.
  [[nodiscard]] std::uint64_t next_kept(std::uint64_t offset, std::uint64_t total) const;
};

/// Writes one stream; used by the shim. Errors do not stop the job; problem() tells the first one.
class Spool {
 public:
  Spool(std::string path, SpoolShape shape) : path_(std::move(path)), shape_(shape) {}

  void append(std::string_view data);
  /// Writes all bytes to the file that are only in memory so far, so that the server can read them.
  void spill();

  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// The whole stream, if it has at most kInlineMax bytes.
  [[nodiscard]] const std::string& whole() const { return whole_; }
  /// Everything is in the file.
  [[nodiscard]] bool is_spilled() const { return written_ == total_; }
  [[nodiscard]] bool has_file() const { return static_cast<bool>(fd_); }
  /// The first error of the file; "" if there was none.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void write(std::string_view data);

  std::string path_;
  SpoolShape shape_;
  UniqueFd fd_;
  std::string whole_;
  std::string problem_;
  std::uint64_t total_ = 0;
  std::uint64_t written_ = 0;  ///< Bytes written to the file; the rest is only in whole_.
};

}  // namespace hostler::agent
