#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/host/journal/attempt_log.h"
#include "core/agent/host/server/connection.h"

namespace hostler::agent {

/// What one connection is still to be sent of streams: each moves within the daemon's credit, in
/// turn, and only while little else is queued, so that exits overtake output.
class Outflow {
 public:
  /// `look_now` false: there is nothing of the stream yet, touch() will tell.
  void credit(const Credit& credit, bool look_now = true);
  /// There may be more of the attempt's streams now.
  void touch(model::AttemptId attempt);
  void forget(model::AttemptId attempt);

  /// Queues pieces until `connection` has enough for now, or nothing more can be sent.
  void pump(AttemptLog& attempts, Connection& connection);

 private:
  using Key = std::pair<model::AttemptId, std::uint32_t>;
  struct Stream {
    std::uint64_t sent = 0;
    std::uint64_t until = 0;
    bool queued = false;
    bool lost = false;
    UniqueFd fd;
    std::uint64_t size = 0;  ///< Of an output file.
  };
  /// One piece; false: nothing can be sent now.
  bool send_piece(const Key& key, Stream& stream, const Attempt& attempt, Connection& connection);
  bool send_stream_piece(const Key& key, Stream& stream, const Attempt& attempt,
                         Connection& connection);
  bool send_file_piece(const Key& key, Stream& stream, const Attempt& attempt,
                       Connection& connection);
  bool send_bytes(const Key& key, Stream& stream, std::uint64_t place, std::uint64_t size,
                  bool growing, Connection& connection);
  bool lose(const Key& key, Stream& stream, Connection& connection, std::string text);
  void enqueue(const Key& key, Stream& stream);

  std::map<Key, Stream> streams_;
  std::deque<Key> turn_;
  /// Of the attempt whose files are being sent.
  std::pair<model::AttemptId, std::vector<OutputFile>> files_;
};

}  // namespace hostler::agent
