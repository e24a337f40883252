#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/agent/byte_queue.h"
#include "core/base/error.h"
#include "core/model/ids.h"
#include "core/model/job.h"

/// What daemon and agent say to each other over one SSH channel. Values and bytes, no I/O; both
/// sides are built from this file.
///
/// The agent speaks first: kGreeting (whatever a login shell printed before it is skipped), then
/// frames both ways. A frame is a little-endian u32 length, a type byte, and the message's fields
/// in order: fixed-width little-endian numbers, and u32-counted strings and lists. Every string and
/// list has a bound; a frame that breaks one, is cut short or has bytes left over is an error that
/// names the field, and ends the connection.
///
/// Hello and Quit keep their type numbers for ever, so that a daemon can send an agent of another
/// version away. All else may change with kProtocolVersion.
namespace hostler::agent {

inline constexpr std::uint16_t kProtocolVersion = 1;
inline constexpr std::string_view kGreeting = "\nhostler-agent greets\n";

inline constexpr std::size_t kFrameMax = std::size_t{4} << 20;
inline constexpr std::size_t kChunkMax = std::size_t{64} << 10;
inline constexpr std::size_t kInlineMax = 4096;  ///< Output that comes with the exit, both streams.
inline constexpr std::size_t kTextMax = 4096;    ///< Texts for people.
inline constexpr std::size_t kListingMax = 1024;
inline constexpr std::size_t kAttemptsMax = 4096;  ///< On a host and not acknowledged.

/// Streams of an attempt; its output files follow, in the order of Files.
inline constexpr std::uint32_t kStdout = 0;
inline constexpr std::uint32_t kStderr = 1;
inline constexpr std::uint32_t kFirstFile = 2;

// ---- daemon to agent ---------------------------------------------------------------------------

/// The server ends; shims and jobs go on, and the next server finds them.
struct Quit {
  friend bool operator==(const Quit&, const Quit&) = default;
};

/// A command that the agent runs from time to time.
struct Check {
  enum class Kind : std::uint8_t {
    kHealthy,      ///< Exit status other than 0: HostBroken.
    kInterrupted,  ///< Exit status 0: SpotNotice.
  };
  std::string name;
  std::string command;  ///< For /bin/sh -c, as the agent's user.
  std::uint64_t interval_us = 60'000'000;
  std::uint64_t timeout_us = 10'000'000;
  Kind kind = Kind::kHealthy;
  friend bool operator==(const Check&, const Check&) = default;
};

/// Holds for this connection and until the next one; the daemon sends it after each Hello.
struct Configure {
  std::uint32_t uid_first = 0;  ///< Jobs run as uids of this range if the agent is root and
  std::uint32_t uid_count = 0;  ///< it is not empty; else as the agent's user.
  std::uint64_t blobs_max = std::uint64_t{10} << 30;  ///< Bytes of blobs kept on the host.
  std::vector<Check> checks;
  friend bool operator==(const Configure&, const Configure&) = default;
};

/// Start one attempt. It runs at most once: the agent refuses another boot than its own, and any
/// sequence number that is not above all it has seen.
struct Start {
  model::AttemptId attempt;
  std::string boot_id;
  std::uint64_t sequence = 0;
  std::vector<std::string> command;  ///< Exactly one of command and script is set.
  std::string script;                ///< Run by /bin/sh from a file.
  std::vector<std::pair<std::string, std::string>> env;
  std::string stdin_text;
  std::vector<model::Input> inputs;     ///< Their blobs are put before.
  std::vector<std::string> outputs;     ///< Patterns relative to the working folder.
  std::uint64_t time_limit_us = 0;      ///< 0: none.
  std::uint64_t grace_us = 10'000'000;  ///< Between TERM and KILL.
  std::uint64_t ram_max = 0;            ///< Bytes for the job's cgroup; 0: none.
  std::uint32_t processes_max = 0;      ///< Likewise.
  std::uint64_t output_head_max = std::uint64_t{16} << 20;  ///< Kept of each stream's begin,
  std::uint64_t output_tail_max = std::uint64_t{16} << 20;  ///< and of its end.
  std::uint64_t files_bytes_max = std::uint64_t{64} << 30;  ///< Of all output files together.
  std::uint64_t credit = 0;  ///< As Credit{from 0, until credit} for both streams.
  friend bool operator==(const Start&, const Start&) = default;
};

/// TERM now and KILL after the grace, or KILL at once. The attempt still ends with Exit.
struct Kill {
  model::AttemptId attempt;
  bool at_once = false;
  friend bool operator==(const Kill&, const Kill&) = default;
};

/// Asks for Listing frames; Exits of ended attempts follow them.
struct List {
  friend bool operator==(const List&, const List&) = default;
};

/// End, output and files of these are durable at the daemon: forget them.
struct Ack {
  std::vector<model::AttemptId> attempts;
  friend bool operator==(const Ack&, const Ack&) = default;
};

/// Everything of a stream before `from` is durable at the daemon, and the agent may send up to
/// `until`. The first Credit of a connection says where to resume. A stream sends its begin while
/// the job runs, up to the head that is kept; the tail follows when the job has ended.
struct Credit {
  model::AttemptId attempt;
  std::uint32_t stream = 0;
  std::uint64_t from = 0;
  std::uint64_t until = 0;
  friend bool operator==(const Credit&, const Credit&) = default;
};

/// Asks for the Files of an ended attempt.
struct ListFiles {
  model::AttemptId attempt;
  friend bool operator==(const ListFiles&, const ListFiles&) = default;
};

/// Asks for BlobState.
struct BlobQuery {
  std::string sha256;  ///< 64 hex digits.
  friend bool operator==(const BlobQuery&, const BlobQuery&) = default;
};

/// A piece of a blob, in order from 0; BlobState answers the last piece, and any that is refused.
struct BlobPut {
  std::string sha256;
  std::uint64_t size = 0;  ///< Of the whole.
  std::uint64_t offset = 0;
  std::string data;
  friend bool operator==(const BlobPut&, const BlobPut&) = default;
};

struct Ping {
  std::uint64_t token = 0;
  friend bool operator==(const Ping&, const Ping&) = default;
};

// ---- agent to daemon ---------------------------------------------------------------------------

enum class Limits : std::uint8_t { kNone, kCgroupV1, kCgroupV2 };

struct Hello {
  std::uint16_t version = kProtocolVersion;
  std::string boot_id;
  std::string state_id;   ///< Of the state folder: a new one knows nothing of attempts before.
  std::string agent_sha;  ///< sha256 of the program that serves, "" if it cannot be read.
  std::uint32_t uid = 0;
  Limits limits = Limits::kNone;
  std::uint64_t last_sequence = 0;  ///< Numbers up to this are used up.
  friend bool operator==(const Hello&, const Hello&) = default;
};

/// Where an attempt that the daemon has not acknowledged stands.
enum class Phase : std::uint8_t {
  kRunning,
  kEnded,       ///< Its Exit follows the listing.
  kUnknownEnd,  ///< It was sent to a boot that is over and left no exit: counts as started.
};
struct Known {
  model::AttemptId attempt;
  Phase phase{};
  friend bool operator==(const Known&, const Known&) = default;
};
/// Follows Hello, and answers List: everything the agent knows, in pieces.
struct Listing {
  std::vector<Known> known;
  bool last = true;
  friend bool operator==(const Listing&, const Listing&) = default;
};

/// Logged and under way: the command is executed next.
struct Started {
  model::AttemptId attempt;
  std::int64_t started_us = 0;  ///< Wall time by the host's clock.
  friend bool operator==(const Started&, const Started&) = default;
};

/// A Start that was refused never starts.
struct Refused {
  enum class Why : std::uint8_t { kOtherBoot, kUsedSequence, kBusy, kBadRequest, kInternal };
  model::AttemptId attempt;
  Why why{};
  std::string text;
  friend bool operator==(const Refused&, const Refused&) = default;
};

/// The attempt has ended and none of its processes is left. Overtakes its output.
struct Exit {
  model::AttemptId attempt;
  model::AttemptEnd end;
};

/// A piece of a stream. An offset beyond the end of the piece before means that what is between
/// fell out: it is not kept anywhere. That comes once in a stream, behind the Exit, and never in a
/// file; where nothing is kept after it, a piece without bytes at the stream's end tells of it.
struct Output {
  model::AttemptId attempt;
  std::uint32_t stream = 0;
  std::uint64_t offset = 0;
  std::string data;
  friend bool operator==(const Output&, const Output&) = default;
};

/// The rest of a stream cannot be had.
struct OutputLost {
  model::AttemptId attempt;
  std::uint32_t stream = 0;
  std::string text;
  friend bool operator==(const OutputLost&, const OutputLost&) = default;
};

struct OutputFile {
  std::string path;  ///< Relative to the working folder; no "..", no empty part.
  std::uint64_t size = 0;
  std::uint16_t mode = 0;  ///< Permission bits.
  std::string problem;     ///< Not empty: it is not collected, and why.
  friend bool operator==(const OutputFile&, const OutputFile&) = default;
};
/// Answers ListFiles, in pieces. File number i is stream kFirstFile + i.
struct Files {
  model::AttemptId attempt;
  std::vector<OutputFile> files;
  bool last = true;
  friend bool operator==(const Files&, const Files&) = default;
};

struct BlobState {
  std::string sha256;
  bool present = false;
  std::string problem;  ///< Why a put was refused.
  friend bool operator==(const BlobState&, const BlobState&) = default;
};

struct HostBroken {
  std::string check;
  std::string text;
  friend bool operator==(const HostBroken&, const HostBroken&) = default;
};

struct SpotNotice {
  std::string text;
  friend bool operator==(const SpotNotice&, const SpotNotice&) = default;
};

struct Pong {
  std::uint64_t token = 0;
  friend bool operator==(const Pong&, const Pong&) = default;
};

/// The daemon broke the protocol; the agent hangs up after this.
struct Problem {
  std::string text;
  friend bool operator==(const Problem&, const Problem&) = default;
};

using ToAgent = std::variant<Quit, Configure, Start, Kill, List, Ack, Credit, ListFiles, BlobQuery,
                             BlobPut, Ping>;
using FromAgent = std::variant<Hello, Listing, Started, Refused, Exit, Output, OutputLost, Files,
                               BlobState, HostBroken, SpotNotice, Pong, Problem>;

// ---- bytes -------------------------------------------------------------------------------------

/// Appends one frame to `out`. Fails with kTooLarge, naming the field, and leaves `out` as it was.
/// For every alternative of ToAgent and FromAgent.
template <class Message>
Result<void> encode(const Message& message, std::string& out);

/// Cuts frames out of a stream of bytes. `Message` is ToAgent or FromAgent.
template <class Message>
class Decoder {
 public:
  void feed(std::string_view bytes);
  /// The next whole message; nullopt: feed more. After an error the stream is of no use: it is
  /// kMisbehaving and says what was wrong where.
  Result<std::optional<Message>> next();
  /// Fed and not yet decoded; below kFrameMax + what was fed last.
  [[nodiscard]] std::size_t buffered() const { return queue_.size(); }

 private:
  ByteQueue queue_;
};

}  // namespace hostler::agent
