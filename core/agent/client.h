#pragma once

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

/// First event of a connection: work may be sent. Exits of ended attempts follow as Exit.
struct Ready {
  Hello hello;
  std::vector<Known> attempts;
};

/// A piece of a stream (kStdout, kStderr, kFirstFile + i), in order. `gap` bytes before it fell out
/// on the host and are not kept; no `data`: nothing after them is.
struct Chunk {
  model::AttemptId attempt;
  std::uint32_t stream = 0;
  std::uint64_t offset = 0;
  std::uint64_t gap = 0;
  std::string data;
};

/// All of an ended attempt that the client knows to collect is durable: ack() may follow.
struct Collected {
  model::AttemptId attempt;
};

using Event = std::variant<Ready, Started, Refused, Exit, Chunk, OutputLost, Files, Collected,
                           BlobState, HostBroken, SpotNotice, Pong>;

/// The daemon's side of one connection to an agent, without I/O, threads or clock: bytes in,
/// events out; commands in, bytes out. One object per connection; after a reconnect begin anew and
/// call resume() for each attempt whose output is not yet durable. Of an attempt that was neither
/// started nor resumed here, and not yet acknowledged, nothing but its Exit is passed on.
///
/// The output of an attempt comes either inline with its Exit or as Chunks, never both. Chunks of
/// an attempt come before and after its Exit, each stream in order.
///
/// Flow: Chunks come within a window for each stream that moves on with durable(). The client asks
/// for the list of output files itself when an exit says that there are any, gives it in one Files
/// however many pieces it came in, and asks for each file once files_durable() was called. Errors:
/// an error of receive() is kMisbehaving (the host, or noise) and ends the connection; an error of
/// a command is kTooLarge or kInvalidArgument and leaves everything as it was.
class Client {
 public:
  /// `window`: bytes of each stream that may be under way or not yet durable.
  explicit Client(std::uint64_t window = std::uint64_t{256} << 10) : window_(window) {}

  /// Bytes from the channel. Events come out by next(), also those before an error. Whoever
  /// resumes attempts does so when next() has given Ready, before he calls either again. After
  /// the error of an agent of another version, pending() sends it away.
  Result<void> receive(std::string_view bytes);
  std::optional<Event> next();

  /// To be written to the channel; call sent() with what was.
  [[nodiscard]] std::string_view pending() const { return out_.bytes(); }
  void sent(std::size_t bytes) { out_.drop(bytes); }

  /// Commands; after Ready.
  Result<void> configure(const Configure& configure) { return encode(configure, out_.end()); }
  /// `credit` of the Start is set to the window: output comes while the job runs.
  Result<void> start(Start start);
  Result<void> kill(model::AttemptId attempt, bool at_once = false);
  Result<void> ack(const std::vector<model::AttemptId>& attempts);
  Result<void> list() { return encode(List{}, out_.end()); }
  Result<void> blob_query(const std::string& sha256);
  Result<void> blob_put(const BlobPut& piece) { return encode(piece, out_.end()); }
  Result<void> ping(std::uint64_t token) { return encode(Ping{token}, out_.end()); }
  Result<void> quit() { return encode(Quit{}, out_.end()); }

  /// Takes an attempt of Ready up again; what is durable of its streams is not sent again.
  Result<void> resume(model::AttemptId attempt, std::uint64_t stdout_durable,
                      std::uint64_t stderr_durable);
  /// Everything of the stream before `offset` is durable here, which may be more than this
  /// connection has brought. Moves the window, and leads to Collected. Ignored for attempts that
  /// are not known (any more).
  void durable(model::AttemptId attempt, std::uint32_t stream, std::uint64_t offset);
  /// The list that came as Files is durable here: the files may come.
  void files_durable(model::AttemptId attempt);
  /// No more of the stream can be kept here: Collected does not wait for it.
  void give_up(model::AttemptId attempt, std::uint32_t stream);
  /// The list cannot be kept, and so none of the files.
  void give_up_files(model::AttemptId attempt);

 private:
  struct Stream {
    std::uint64_t received = 0;
    std::uint64_t durable = 0;
    std::uint64_t until = 0;            ///< Credit given.
    std::optional<std::uint64_t> size;  ///< Known at the end.
    bool has_gap = false;
    bool lost = false;  ///< Nothing comes any more, or is wanted.
    [[nodiscard]] bool is_done() const {
      return lost ? durable >= received : size && durable >= *size;
    }
  };
  struct Attempt {
    std::vector<Stream> streams{2};
    bool exited = false;
    bool files_wanted = false;      ///< Asked for and not yet all listed.
    bool files_told = false;        ///< All listed, and the list is not yet durable.
    std::vector<OutputFile> files;  ///< Listed so far.
    bool collected = false;
  };

  Result<void> greet(std::string_view& bytes);
  Result<void> decode();
  Result<void> on_message(FromAgent&& message);
  Result<void> on_exit(Exit&& exit);
  void announce_exit(Exit&& exit, Attempt& attempt);
  Result<void> on_output(Output&& output);
  Result<void> on_output_lost(OutputLost&& lost);
  Result<void> on_files(Files&& files);
  void give_credit(model::AttemptId id, std::uint32_t index, Stream& stream);
  void check_collected(model::AttemptId id, Attempt& attempt);

  const std::uint64_t window_;
  std::string noise_;  ///< What came before the greeting.
  bool greeted_ = false;
  std::optional<Ready> ready_;  ///< Being listed.
  bool is_ready_ = false;
  bool held_ = false;  ///< Nothing is decoded until Ready has been told.
  bool ready_told_ = false;
  std::optional<Error> problem_;  ///< Of decoding in next().
  Decoder<FromAgent> decoder_;
  std::deque<Event> events_;
  std::map<model::AttemptId, Attempt> attempts_;
  ByteQueue out_;
};

}  // namespace hostler::agent
