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

/// Sends the output streams and files of attempts over one connection. Each stream advances within
/// the credit that the daemon has given for it. The streams take turns, one piece each, and only
/// while few bytes are queued, so that other messages overtake output. Blocks for reads of spool
/// files.
class OutputSender {
 public:
  /// The daemon has given credit. `has_output` false: the stream is still empty, and a call of
  /// on_new_output() will follow.
  void add_credit(const Credit& credit, bool has_output = true);
  /// The streams of the attempt may have new bytes.
  void on_new_output(model::AttemptId attempt);
  /// Sends nothing more of the attempt.
  void forget(model::AttemptId attempt);

  /// Queues pieces until `connection` has enough for now, or nothing can be sent.
  void send(AttemptLog& attempts, Connection& connection);

 private:
  using Key = std::pair<model::AttemptId, std::uint32_t>;
  struct Stream {
    std::uint64_t sent = 0;   ///< Offset of the next byte to send.
    std::uint64_t until = 0;  ///< Credit: bytes before this offset may be sent.
    bool queued = false;      ///< In turns_.
    bool lost = false;        ///< OutputLost was sent.
    UniqueFd fd;
    std::uint64_t size = 0;  ///< Only of an output file, in bytes.
  };
  /// Sends one piece; false: nothing can be sent now. Likewise the next three functions.
  bool send_piece(const Key& key, Stream& stream, const Attempt& attempt, Connection& connection);
  bool send_stream_piece(const Key& key, Stream& stream, const Attempt& attempt,
                         Connection& connection);
  bool send_file_piece(const Key& key, Stream& stream, const Attempt& attempt,
                       Connection& connection);
  bool send_bytes(const Key& key, Stream& stream, std::uint64_t place, std::uint64_t size,
                  bool growing, Connection& connection);
  static bool send_lost(const Key& key, Stream& stream, Connection& connection, std::string text);
  void enqueue(const Key& key, Stream& stream);

  std::map<Key, Stream> streams_;
  std::deque<Key> turns_;  ///< Streams that may have something to send, in turn.
  /// The list of output files of the attempt whose files were sent last.
  std::pair<model::AttemptId, std::vector<OutputFile>> files_;
};

}  // namespace hostler::agent
