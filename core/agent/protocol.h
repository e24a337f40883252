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
#include "core/model/card.h"
#include "core/model/ids.h"
#include "core/model/interruption.h"
#include "core/model/job.h"

/// The protocol between daemon and agent over one SSH channel: messages as values, and their bytes.
/// No I/O. The daemon and the agent are built from the same file.
///
/// The agent begins with kGreeting. The daemon skips everything before it, which a login shell may
/// have printed. Then both sides send frames. A frame is a little-endian u32 length, a type byte,
/// and the fields of the message in order: fixed-width little-endian numbers, and strings and lists
/// with a u32 count. Every string and list has a maximum. A frame that exceeds a maximum, is too
/// short or has bytes left over is an error; the error names the field and ends the connection.
///
/// Hello and Quit keep their type numbers for ever, so that a daemon can end an agent of another
/// version. Everything else may change with kProtocolVersion.
namespace hostler::agent {

inline constexpr std::uint16_t kProtocolVersion = 6;
inline constexpr std::string_view kGreeting = "\nhostler-agent greets\n";

inline constexpr std::size_t kFrameMax = std::size_t{4} << 20;
inline constexpr std::size_t kChunkMax = std::size_t{64} << 10;
inline constexpr std::size_t kInlineMax = 4096;  ///< Output sent within Exit, both streams.
inline constexpr std::size_t kTextMax = 4096;    ///< Messages for people.
inline constexpr std::size_t kListingMax = 1024;
inline constexpr std::size_t kCardsTextMax = std::size_t{64} << 10;
inline constexpr std::size_t kCardFilesMax = 1024;
inline constexpr std::size_t kAttemptsMax = 4096;  ///< On one host, not acknowledged.

inline constexpr std::uint64_t kFilesBytesMax = std::uint64_t{64} << 30;  ///< Of one attempt.

/// Numbers of an attempt's streams. Output files are streams, too: file i of Files is kFirstFile +
/// i.
inline constexpr std::uint32_t kStdout = 0;
inline constexpr std::uint32_t kStderr = 1;
inline constexpr std::uint32_t kFirstFile = 2;

// ---- daemon to agent ---------------------------------------------------------------------------

/// The server ends. Shims and jobs continue, and the next server finds them.
struct Quit {
  friend bool operator==(const Quit&, const Quit&) = default;
};

/// A command that the agent runs at an interval.
struct Check {
  enum class Kind : std::uint8_t {
    kHealthy,  ///< An exit status other than 0 leads to HostBroken.
    /// With exit status 0, standard output that differs from the last one leads to SpotNotice.
    kInterrupted,
  };
  std::string name;
  std::string command;  ///< Run with /bin/sh -c as the agent's user.
  std::uint64_t interval_us = 60'000'000;
  std::uint64_t timeout_us = 10'000'000;
  Kind kind = Kind::kHealthy;
  friend bool operator==(const Check&, const Check&) = default;
};

/// Settings of the agent, valid until the next connection begins. The daemon sends it after each
/// Hello, and the agent answers it with Cards.
struct Configure {
  /// If the agent is root and this range is not empty, each job runs as a uid of the range;
  /// otherwise jobs run as the agent's user.
  std::uint32_t uid_first = 0;
  std::uint32_t uid_count = 0;
  std::uint64_t blobs_max = std::uint64_t{10} << 30;  ///< Bytes of all blobs on the host.
  std::vector<Check> checks;
  /// For /bin/sh -c, as the agent's user: prints the cards of the host, in place of the tools of
  /// their makers. Empty: those tools are asked, where they are.
  std::string cards_command;
  std::uint64_t cards_timeout_us = 10'000'000;  ///< Of one reading.
  friend bool operator==(const Configure&, const Configure&) = default;
};

/// The device files of all cards of the host, from now on: a job can open those that its Start has
/// named, and none of the others. Follows Cards, and is sent before the first Start.
struct Guard {
  std::vector<std::string> files;
  friend bool operator==(const Guard&, const Guard&) = default;
};

/// Starts one attempt; its members are one message. An attempt runs at most once: the agent refuses
/// a Start for another boot, and a sequence number that is not higher than all earlier ones.
struct Start {
  model::AttemptId attempt;
  std::string boot_id;
  std::uint64_t sequence = 0;
  std::vector<std::string> command;  ///< Exactly one of command and script is not empty.
  std::string script;                ///< Text for /bin/sh, which reads it from a file.
  std::vector<std::pair<std::string, std::string>> env;
  std::string stdin_text;
  std::vector<model::Input> inputs;     ///< Their blobs have been sent before.
  std::vector<std::string> outputs;     ///< Patterns, relative to the working folder.
  std::uint64_t time_limit_us = 0;      ///< 0: no limit.
  std::uint64_t grace_us = 10'000'000;  ///< Between TERM and KILL.
  std::uint64_t ram_max = 0;            ///< Bytes for the job's cgroup; 0: no limit.
  std::uint32_t processes_max = 0;      ///< Processes in the job's cgroup; 0: no limit.
  std::uint64_t output_head_max = std::uint64_t{16} << 20;  ///< Bytes kept of the start
  std::uint64_t output_tail_max = std::uint64_t{16} << 20;  ///< and of the end of each stream.
  std::uint64_t files_bytes_max = kFilesBytesMax;           ///< Maximum of all output files.
  std::string interruption_command;  ///< For /bin/sh -c; see Interrupt. Empty: none.
  std::uint64_t credit = 0;          ///< Like a Credit from 0 until this offset, for both streams.
  bool no_new_privs = true;          ///< Programs with setuid or capabilities give the job none.
  bool drop_capabilities = true;     ///< If the agent is root: the job's bounding set is empty.
  std::vector<std::string> cards;    ///< UUIDs of the cards that are its own; refused while another
                                     ///< attempt that runs has one of them.
  std::vector<std::string> files;    ///< The device files of these cards.
  friend bool operator==(const Start&, const Start&) = default;
};

/// Ends the job: TERM now and KILL after the grace period, or KILL now. Exit follows as usual.
struct Kill {
  model::AttemptId attempt;
  bool at_once = false;
  friend bool operator==(const Kill&, const Kill&) = default;
};

/// The host will be interrupted. The interruption command of the attempt is run beside the job, as
/// its user, in its folder, environment and limits; what it writes goes to the job's streams. It is
/// run once for each `notice`; the same one again moves its end. Ignored where no job runs.
struct Interrupt {
  model::AttemptId attempt;
  std::uint64_t notice = 0;
  std::int64_t at_us = 0;     ///< When, since 1970 by the daemon's clock; 0: not known.
  std::uint64_t left_us = 0;  ///< The command is killed after this time.
  model::InterruptionAction action{};
  friend bool operator==(const Interrupt&, const Interrupt&) = default;
};

/// Requests Listing frames, and after them the Exit of each ended attempt.
struct List {
  friend bool operator==(const List&, const List&) = default;
};

/// The daemon has stored end, output and files of these attempts durably: the agent forgets them.
struct Ack {
  std::vector<model::AttemptId> attempts;
  friend bool operator==(const Ack&, const Ack&) = default;
};

/// The agent may send the stream's bytes before offset `until`. The daemon has stored the bytes
/// before `from` durably: on a new connection the stream resumes there. While the job runs, only
/// the head of a stream is sent; the tail is sent after the job has ended.
struct Credit {
  model::AttemptId attempt;
  std::uint32_t stream = 0;
  std::uint64_t from = 0;
  std::uint64_t until = 0;
  friend bool operator==(const Credit&, const Credit&) = default;
};

/// Requests the Files of an ended attempt.
struct ListFiles {
  model::AttemptId attempt;
  friend bool operator==(const ListFiles&, const ListFiles&) = default;
};

/// Requests the BlobState of a blob.
struct BlobQuery {
  std::string sha256;  ///< 64 hex digits.
  friend bool operator==(const BlobQuery&, const BlobQuery&) = default;
};

/// A piece of a blob. Pieces are sent in order, from offset 0. BlobState answers the last piece,
/// and any piece that is refused.
struct BlobPut {
  std::string sha256;
  std::uint64_t size = 0;  ///< Of the whole blob.
  std::uint64_t offset = 0;
  std::string data;
  friend bool operator==(const BlobPut&, const BlobPut&) = default;
};

/// Requests a Pong with the same token.
struct Ping {
  std::uint64_t token = 0;
  friend bool operator==(const Ping&, const Ping&) = default;
};

// ---- agent to daemon ---------------------------------------------------------------------------

enum class Limits : std::uint8_t { kNone, kCgroupV1, kCgroupV2 };

/// The first message of a connection.
struct Hello {
  std::uint16_t version = kProtocolVersion;
  std::string boot_id;
  std::string state_id;   ///< Names the state folder. A new folder has no record of old attempts.
  std::string agent_sha;  ///< sha256 of the running agent program; "" if it cannot be read.
  std::uint32_t uid = 0;
  Limits limits = Limits::kNone;
  std::uint64_t last_sequence = 0;  ///< A Start needs a higher sequence number.
  friend bool operator==(const Hello&, const Hello&) = default;
};

/// Follows Hello, where the agent knows it: the bytes that jobs may use of the file system with
/// their folders. What was there before the first job is not counted.
struct Scratch {
  std::int64_t bytes = 0;
  friend bool operator==(const Scratch&, const Scratch&) = default;
};

/// Follows Hello, where the agent knows it: the RAM that the host has.
struct Ram {
  std::int64_t bytes = 0;
  friend bool operator==(const Ram&, const Ram&) = default;
};

/// The state of an attempt that the daemon has not acknowledged.
enum class Phase : std::uint8_t {
  kRunning,
  kEnded,       ///< Its Exit follows the listing.
  kUnknownEnd,  ///< It began in an earlier boot and left no end. It counts as started.
};
struct Known {
  model::AttemptId attempt;
  Phase phase{};
  std::vector<std::string> cards = {};  ///< Of its Start.
  friend bool operator==(const Known&, const Known&) = default;
};
/// Follows Hello, Scratch and Ram, and answers List: all attempts that the agent knows, in pieces.
struct Listing {
  std::vector<Known> known;
  bool last = true;
  friend bool operator==(const Listing&, const Listing&) = default;
};

/// One reading of the cards: what the tool printed, which the daemon understands. One follows each
/// Configure, and then one each minute. Before the first one of a connection the agent sends
/// nothing but Hello, Scratch, Ram, Listing and Pong.
struct Cards {
  enum class Tool : std::uint8_t { kNone, kNvidia, kRocm, kCommand };
  /// A device file of a card, and its address on the PCI bus ("0000:3b:00.0"); empty: not known.
  struct File {
    std::string path, bus;
    friend bool operator==(const File&, const File&) = default;
  };
  Tool tool = Tool::kNone;
  std::int32_t status = 0;  ///< Exit status of the tool; 128 + n on a signal.
  bool timed_out = false;   ///< It was killed after cards_timeout_us.
  bool cut = false;         ///< It printed more than kCardsTextMax.
  /// Its standard output; if that is empty, its standard error. Of nvidia-smi both, its errors
  /// first, as they name cards that do not answer, and then the Xid errors of the kernel's log.
  std::string text;
  std::vector<File> files;  ///< Those that the agent has found where makers of cards put them.
  model::CardGuard guard = model::CardGuard::kNone;  ///< What it can do.
  friend bool operator==(const Cards&, const Cards&) = default;
};

/// The attempt is recorded in the journal, and its command will be executed next. If the host keeps
/// it from being executed, an Exit follows for which never_started() is true.
struct Started {
  model::AttemptId attempt;
  std::int64_t started_us = 0;  ///< Since 1970, by the host's clock.
  friend bool operator==(const Started&, const Started&) = default;
};

/// The agent will never start this attempt.
struct Refused {
  enum class Why : std::uint8_t { kOtherBoot, kUsedSequence, kBusy, kBadRequest, kInternal };
  model::AttemptId attempt;
  Why why{};
  std::string text;
  friend bool operator==(const Refused&, const Refused&) = default;
};

/// The attempt has ended, and none of its processes is left. Output may follow.
struct Exit {
  model::AttemptId attempt;
  model::AttemptEnd end;
};

/// The exit code of an attempt that the host could not start, for a cause that is not in the job:
/// its disk is full, a folder is missing. Only with kStartFailed and kInputFailed, whose exit code
/// is 0 otherwise, so frames and journals are as before: to an end that does not know this value
/// the job has failed.
inline constexpr std::int32_t kNeverStarted = -1;
/// No process of the job has run, and another host may start it.
inline bool never_started(const model::AttemptEnd& end) {
  return end.exit_code == kNeverStarted && (end.reason == model::EndReason::kStartFailed ||
                                            end.reason == model::EndReason::kInputFailed);
}

/// A piece of a stream. If its offset is beyond the end of the previous piece, the bytes between
/// were not kept. Such a gap occurs at most once in a stream, only after the Exit, and never in a
/// file. If the gap extends to the end of the stream, an empty piece with the end as its offset
/// reports it.
struct Output {
  model::AttemptId attempt;
  std::uint32_t stream = 0;
  std::uint64_t offset = 0;
  std::string data;
  friend bool operator==(const Output&, const Output&) = default;
};

/// The rest of a stream cannot be read on the host.
struct OutputLost {
  model::AttemptId attempt;
  std::uint32_t stream = 0;
  std::string text;
  friend bool operator==(const OutputLost&, const OutputLost&) = default;
};

/// An output file of an ended attempt.
struct OutputFile {
  std::string path;  ///< Relative to the working folder; no "..", no empty part.
  std::uint64_t size = 0;
  std::uint16_t mode = 0;  ///< Permission bits.
  std::string problem;     ///< Why the file is not collected; empty: it is.
  friend bool operator==(const OutputFile&, const OutputFile&) = default;
};
/// Answers ListFiles, in pieces. File i is the stream kFirstFile + i.
struct Files {
  model::AttemptId attempt;
  std::vector<OutputFile> files;
  bool last = true;
  friend bool operator==(const Files&, const Files&) = default;
};

/// Answers BlobQuery and BlobPut.
struct BlobState {
  std::string sha256;
  bool present = false;
  std::string problem;  ///< Why a put was refused.
  friend bool operator==(const BlobState&, const BlobState&) = default;
};

/// A check of kind kHealthy has failed.
struct HostBroken {
  std::string check;
  std::string text;
  friend bool operator==(const HostBroken&, const HostBroken&) = default;
};

/// What a check of kind kInterrupted has printed first, and whenever it prints something else.
struct SpotNotice {
  std::string text;  ///< Empty: there is no notice.
  friend bool operator==(const SpotNotice&, const SpotNotice&) = default;
};

/// Answers Ping.
struct Pong {
  std::uint64_t token = 0;
  friend bool operator==(const Pong&, const Pong&) = default;
};

/// The daemon has violated the protocol. The agent closes the connection after this message.
struct Problem {
  std::string text;
  friend bool operator==(const Problem&, const Problem&) = default;
};

using ToAgent = std::variant<Quit, Configure, Start, Kill, Interrupt, List, Ack, Credit, ListFiles,
                             BlobQuery, BlobPut, Ping, Guard>;
using FromAgent =
    std::variant<Hello, Listing, Started, Refused, Exit, Output, OutputLost, Files, BlobState,
                 HostBroken, SpotNotice, Pong, Problem, Scratch, Ram, Cards>;

// ---- bytes -------------------------------------------------------------------------------------

/// Appends one frame to `out`, for every alternative of ToAgent and FromAgent. On error (kTooLarge,
/// with the name of the field) `out` is unchanged.
template <class Message>
Result<void> encode(const Message& message, std::string& out);

/// Decodes a stream of bytes into messages. `Message` is ToAgent or FromAgent.
template <class Message>
class Decoder {
 public:
  void feed(std::string_view bytes);
  /// The next complete message; nullopt: more bytes are needed. An error (kMisbehaving, with the
  /// name of the field) is final: the stream cannot be decoded further.
  Result<std::optional<Message>> next();
  /// Bytes not yet decoded; less than kFrameMax plus the size of the last feed().
  [[nodiscard]] std::size_t buffered() const { return queue_.size(); }

 private:
  ByteQueue queue_;
};

}  // namespace hostler::agent
