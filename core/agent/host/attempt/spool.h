#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/agent/host/system/os.h"
#include "core/agent/protocol.h"

/// One stream of an attempt as it is kept on the host: its first `head_max` and its last `tail_max`
/// bytes, in one file of at most that size. Up to kInlineMax bytes stay in memory for the exit.
namespace hostler::agent {

/// "out/42.1.0": where the shim writes and the server reads.
std::string spool_path(model::AttemptId attempt, std::uint32_t stream);

struct SpoolShape {
  std::uint64_t head_max = 0;
  std::uint64_t tail_max = 0;

  /// Byte `offset` of the stream lies here in the file.
  [[nodiscard]] std::uint64_t place(std::uint64_t offset) const;
  /// Bytes from `offset` that lie in the file in one piece.
  [[nodiscard]] std::uint64_t run(std::uint64_t offset) const;
  /// The first byte at or after `offset` that is kept of a stream that has ended at `total`.
  [[nodiscard]] std::uint64_t next_kept(std::uint64_t offset, std::uint64_t total) const;
};

/// The writing side, in the shim.
class Spool {
 public:
  Spool(std::string path, SpoolShape shape) : path_(std::move(path)), shape_(shape) {}

  void append(std::string_view data);
  /// Writes to the file what is in memory only, so that others can read it.
  void spill();

  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// All of the stream, while it is at most kInlineMax bytes.
  [[nodiscard]] const std::string& whole() const { return whole_; }
  [[nodiscard]] bool is_spilled() const { return written_ == total_; }
  [[nodiscard]] bool has_file() const { return static_cast<bool>(fd_); }
  /// What went wrong with the file first; "" if nothing.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void write(std::string_view data);

  std::string path_;
  SpoolShape shape_;
  UniqueFd fd_;
  std::string whole_;
  std::string problem_;
  std::uint64_t total_ = 0;
  std::uint64_t written_ = 0;  ///< Of total_; what is above lies in whole_ only.
};

}  // namespace hostler::agent
