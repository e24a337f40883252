#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/agent/host/attempt/spool.h"
#include "core/agent/host/system/os.h"
#include "core/agent/protocol.h"

namespace hostler::agent {

/// The shim's end of a job's stdout and stderr: reads both pipes into their spools, and wakes the
/// server when there is new output for it. Output stays in memory for a short time, because that of
/// a quick job travels with its exit and needs no file.
class JobOutput {
 public:
  /// `wake` is the descriptor of the named pipe; the caller owns it.
  JobOutput(model::AttemptId attempt, SpoolShape shape, int wake);

  /// Makes the pipes. The job gets the write ends, which `out` and `err` own.
  Result<void> open(UniqueFd& out, UniqueFd& err);
  /// What to wait for with poll(): one entry for each of the two pipes.
  void fill(pollfd (&polls)[2]) const;
  /// Reads from the pipes that are ready, a bounded number of bytes.
  void read(const pollfd (&polls)[2]);
  /// Reads what is left in the pipes, when all processes of the job have ended.
  void read_rest();

  /// Adds a line of the agent itself to stderr.
  void note(const std::string& line);

  /// When show() is to be called next, boottime in us; INT64_MAX: not before new output comes.
  [[nodiscard]] std::int64_t show_at() const { return show_at_; }
  /// Writes what is in memory to the spool files, and wakes the server.
  void show();

  /// Fills in the members of the end that describe the two streams. Small output goes into `end`
  /// itself, other output to the spool files.
  void finish(model::AttemptEnd& end);
  /// True if at least one stream has a file.
  [[nodiscard]] bool has_file() const { return spools_[0].has_file() || spools_[1].has_file(); }

 private:
  bool read_pipe(std::size_t index, std::size_t rounds);

  const model::AttemptId attempt_;
  const SpoolShape shape_;
  const int wake_;
  Spool spools_[2];
  UniqueFd pipes_[2];
  std::int64_t show_at_ = INT64_MAX;
  std::int64_t next_wake_ = 0;  ///< The server is not woken again before, boottime in us.
};

}  // namespace hostler::agent
