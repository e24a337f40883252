#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/agent/protocol.h"
#include "core/base/error.h"
#include "core/model/ids.h"

namespace hostler::agent {

/// The first event of a connection: commands may be sent now. The Exit of each ended attempt
/// follows. It comes once the agent has listed its attempts and told of its cards.
struct Ready {
  Hello hello;
  std::vector<Known> attempts;
  // Unset: the agent has not said it.
  std::optional<std::int64_t> scratch = {};  ///< See Scratch.
  std::optional<std::int64_t> ram = {};      ///< See Ram.
  std::optional<Cards> cards = {};           ///< Unset: see report_ready().
};

/// A piece of a stream (kStdout, kStderr, kFirstFile + i). The pieces of a stream come in order.
/// The host did not keep the `gap` bytes before this piece. If `data` is empty, the gap reaches to
/// the end of the stream.
struct Chunk {
  model::AttemptId attempt;
  std::uint32_t stream = 0;
  std::uint64_t offset = 0;
  std::uint64_t gap = 0;
  std::string data;
};

/// The end, the output and the files of an attempt are durable at the daemon: ack() may follow.
struct Collected {
  model::AttemptId attempt;
};

using Event = std::variant<Ready, Started, Refused, Exit, Chunk, OutputLost, Files, Collected,
                           BlobState, HostBroken, SpotNotice, Pong, Cards>;

/// HostBroken::check where no check of the pool has failed: the host has reported what cannot be,
/// or has violated the protocol.
inline constexpr const char *kReport = "report", *kProtocol = "protocol";

/// The daemon's side of one connection to an agent. It turns received bytes into events, and
/// commands into bytes to send. It does no I/O, has no threads and reads no clock.
///
/// Make one object for each connection. After a reconnect, call resume() for each attempt whose
/// output is not durable yet. Of an attempt that was neither started nor resumed on this
/// connection, only the Exit is reported.
///
/// An Exit of an attempt that never_started() is reported as Refused. The agent keeps it until
/// ack(), so it may come again on the next connection.
///
/// The output of an attempt comes either inline with its Exit or as Chunks, never both. Chunks may
/// come before and after the Exit; the Chunks of one stream come in order.
///
/// Flow control: each stream has a window, which durable() moves forward. If an Exit says that
/// there are output files, the client requests their list, reports it as a single Files event, and
/// requests the files one by one after files_durable().
///
/// Numbers of the host are bounded (bounds.h). The first one of a connection that was not within
/// its bounds leads to HostBroken, check kReport, which names it.
///
/// Errors: an error of receive() is kMisbehaving, caused by the host or by other text on the
/// channel, or kUnavailable if the agent closes the connection, and ends the connection. An error
/// of a command is kTooLarge or kInvalidArgument and has no effect.
class Client {
 public:
  /// `window`: how many bytes of each stream may be sent before they are durable.
  explicit Client(std::uint64_t window = std::uint64_t{256} << 10) : window_(window) {}

  /// Takes bytes from the channel. next() returns the events, also those that came before an error.
  /// Call resume() after next() has returned Ready, before any other call of receive() or next().
  /// If the agent has another protocol version, the error leaves a Quit in pending(); send it.
  Result<void> receive(std::string_view bytes);
  std::optional<Event> next();

  /// The bytes to write to the channel. Call sent() with the number of bytes written.
  [[nodiscard]] std::string_view pending() const { return out_.bytes(); }
  void sent(std::size_t bytes) { out_.drop(bytes); }

  /// What the agent has said first, until Ready is there; null before and after. Call configure()
  /// when it has come: Ready waits for the Cards that answer it.
  [[nodiscard]] const Hello* hello() const { return ready_ ? &ready_->hello : nullptr; }
  /// Reports Ready now, if the attempts are listed: with the first Cards, or without them if they
  /// have not come. Then they come later, if at all.
  void report_ready();

  // Commands. All but configure() and ping() are allowed after Ready only.
  Result<void> configure(const Configure& configure) { return encode(configure, out_.end()); }
  Result<void> guard(const Guard& guard) { return encode(guard, out_.end()); }
  /// Sets `credit` of the Start to the window, so that output is sent while the job runs.
  Result<void> start(Start start);
  Result<void> kill(model::AttemptId attempt, bool at_once = false);
  Result<void> interrupt(const Interrupt& notice) { return encode(notice, out_.end()); }
  Result<void> ack(const std::vector<model::AttemptId>& attempts);
  Result<void> list() { return encode(List{}, out_.end()); }
  Result<void> blob_query(const std::string& sha256);
  Result<void> blob_put(const BlobPut& piece) { return encode(piece, out_.end()); }
  Result<void> ping(std::uint64_t token) { return encode(Ping{token}, out_.end()); }
  Result<void> quit() { return encode(Quit{}, out_.end()); }

  /// Continues an attempt that Ready has listed. The given bytes of its streams are durable and are
  /// not sent again.
  Result<void> resume(model::AttemptId attempt, std::uint64_t stdout_durable,
                      std::uint64_t stderr_durable);
  /// The stream's bytes before `offset` are durable at the daemon, possibly more bytes than came
  /// over this connection. Moves the window; may lead to Collected. Ignored if the attempt is
  /// unknown.
  void durable(model::AttemptId attempt, std::uint32_t stream, std::uint64_t offset);
  /// The list of the Files event is durable: requests the files.
  void files_durable(model::AttemptId attempt);
  /// While it is held, the agent may send no more of the attempt's output than was allowed before.
  /// False if the attempt is unknown.
  bool hold(model::AttemptId attempt, bool held);
  /// Bytes of the attempt that have come and are not durable.
  [[nodiscard]] std::uint64_t not_durable(model::AttemptId attempt) const;
  /// The daemon cannot store more of the stream. Collected does not wait for the stream.
  void give_up(model::AttemptId attempt, std::uint32_t stream);
  /// The daemon cannot store the list of files. Collected does not wait for the list or the files.
  void give_up_files(model::AttemptId attempt);

 private:
  struct Stream {
    std::uint64_t received = 0;
    std::uint64_t durable = 0;
    std::uint64_t until = 0;            ///< End of the window: the credit that was given.
    std::optional<std::uint64_t> size;  ///< Known after the Exit.
    bool has_gap = false;
    bool lost = false;  ///< The agent cannot send more, or the daemon has given up.
    [[nodiscard]] bool is_done() const {
      return lost ? durable >= received : size && durable >= *size;
    }
  };
  struct Attempt {
    std::vector<Stream> streams{2};
    bool exited = false;
    bool files_requested = false;   ///< The list was requested and is not complete yet.
    bool files_reported = false;    ///< The list was reported and is not durable yet.
    std::vector<OutputFile> files;  ///< The part of the list that has arrived.
    bool collected = false;
    bool held = false;
  };

  Result<void> skip_to_greeting(std::string_view& bytes);
  Result<void> decode();
  Result<void> on_message(FromAgent&& message);
  /// Of a Listing or Cards, before Ready.
  Result<void> on_introduction(FromAgent&& message);
  Result<void> on_exit(Exit&& exit);
  void doubt(std::string problem);
  std::array<bool, 2> drop_impossible_streams(Exit& exit);
  void report_exit(Exit&& exit, Attempt& attempt);
  Result<void> on_refused(Refused&& refused);
  Result<void> on_output(Output&& output);
  Result<void> on_output_lost(OutputLost&& lost);
  Result<void> on_files(Files&& files);
  /// It is to come, and less than half of its window is left.
  [[nodiscard]] bool wants_credit(const Stream& stream) const {
    return !stream.lost && !stream.is_done() && stream.until < stream.durable + window_ / 2;
  }
  void give_credit(model::AttemptId id, std::uint32_t index, Stream& stream);
  void check_collected(model::AttemptId id, Attempt& attempt);

  const std::uint64_t window_;
  std::string preamble_;  ///< Bytes received before the greeting.
  bool greeted_ = false;
  std::optional<Ready> ready_;    ///< Set between Hello and Ready.
  bool is_listed_ = false;        ///< The listing is complete.
  bool is_ready_ = false;         ///< Ready is among the events, or was.
  bool is_paused_ = false;        ///< Decoding waits until the caller has seen Ready.
  bool ready_returned_ = false;   ///< next() has returned Ready.
  std::optional<Error> problem_;  ///< An error that next() found; receive() returns it.
  std::string doubt_;             ///< The first value that cannot be.
  Decoder<FromAgent> decoder_;
  std::deque<Event> events_;
  std::map<model::AttemptId, Attempt> attempts_;
  ByteQueue out_;
};

}  // namespace hostler::agent
