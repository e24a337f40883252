#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/time.h"
#include "core/model/card.h"
#include "core/model/ids.h"
#include "core/model/instance.h"
#include "core/model/interruption.h"
#include "core/model/job.h"

/// The commands of the loop to a host's link, and the events of the link. Values only: links run on
/// the hosts thread, the loop on a thread of its own.
namespace hostler::model {

/// The data to connect to a host, and to verify that it is the host.
struct HostTarget {
  InstanceId instance;
  std::string set;          ///< For the driver's host-key extension.
  std::string provider_id;  ///< Likewise.
  std::string address;
  std::uint16_t port = 22;
  std::string user;
  std::string pool;  ///< Names the policy: accepted methods, probes, checks.
  HostIdentity identity;
  /// It has been ready before, since it was last switched on: its boot probe is not run again.
  bool was_ready = false;
  /// Its create is of this store, and no work was ever sent to it: all that it has printed on its
  /// console is of its boot. For VerifyMethod::kDriver.
  bool is_untouched = false;
  /// It gets an agent. If not, it is proved, its boot is awaited, and the connection is kept.
  bool with_agent = true;
};

// ---- commands ----------------------------------------------------------------------------------

/// Connect to the host, verify it, install the agent and keep the channel open; reconnect until
/// DisconnectHost. A second ConnectHost replaces address and identity.
struct ConnectHost {
  HostTarget target;
};
/// Forget the host: the link ends and sends no more events.
struct DisconnectHost {
  InstanceId instance;
};
/// Start one attempt. `boot_id` and `connection` are those of the last HostReady that the loop has
/// handled. A link with a later connection refuses the start: at its HostReady the loop counts the
/// attempt as never started. `sequence` rises with every start of a boot.
struct StartAttempt {
  InstanceId instance;
  AttemptId attempt;
  std::string boot_id;
  std::uint64_t connection = 0;
  std::uint64_t sequence = 0;
  std::shared_ptr<const JobSpec> spec;
  std::vector<std::string> cards = {};  ///< UUIDs of the cards that are its own.
};
/// The answer to every HostReady: the reported attempts that belong to this host, and that run or
/// have an end or output to send. The link handles further messages of the connection only after
/// it, and accepts output of these attempts and of those that it starts later.
struct ResumeAttempts {
  InstanceId instance;
  std::uint64_t connection = 0;
  std::vector<AttemptId> attempts;
};
/// Send TERM, and KILL after the grace period; AttemptExited still follows.
struct KillAttempt {
  InstanceId instance;
  AttemptId attempt;
};
/// The host will be interrupted: run the interruption command of the attempt, once for each notice.
struct InterruptAttempt {
  InstanceId instance;
  AttemptId attempt;
  Wall noticed;     ///< Tells notices apart.
  Wall at;          ///< When the host is interrupted; 0: not known.
  Duration left{};  ///< The command may run for so long.
  InterruptionAction action = InterruptionAction::kNotSaid;
};
/// The attempt's end and output are durable at the daemon: the host may forget the attempt.
struct AckAttempt {
  InstanceId instance;
  AttemptId attempt;
};
/// The rotation that the link proposed is durable: replace the key on the host.
struct ActivateRotation {
  InstanceId instance;
  HostIdentity identity;
};

/// A command to run on a proved host.
struct HostExec {
  std::string purpose;                 ///< For people and the ledger: "the init command is sent".
  std::vector<std::string> arguments;  ///< At least the program.
  std::string input;                   ///< Its standard input. May be a secret.
  bool as_root = false;                ///< By sudo where the set's `escalate` says so.
  std::size_t output_max = 4096;       ///< Bytes to keep of each stream.
  Duration limit = std::chrono::seconds(30);
};
/// Run a command on the connection that stands now, or say that none stands. CommandEnded follows,
/// unless the link ends: the daemon sends no command twice.
struct RunCommand {
  InstanceId instance;
  std::uint64_t number = 0;  ///< Rises while the daemon lives.
  HostExec command;
  /// The number of the CommandProposed that it answers: it is refused on another connection, and
  /// after kProposalPatience, since the loop has counted it as ended. 0: it answers none.
  std::uint64_t proposal = 0;
};

using HostCommand =
    std::variant<ConnectHost, DisconnectHost, ResumeAttempts, StartAttempt, KillAttempt,
                 InterruptAttempt, AckAttempt, ActivateRotation, RunCommand>;

// ---- events ------------------------------------------------------------------------------------

/// The host could not be verified yet, its init command still runs, or its boot probe fails.
struct HostNotYet {
  std::string step;  ///< "resolve", "connect", "key_exchange", "verify", "auth", "init", "probe",
                     ///< "boot_id", "agent".
  std::string text;  ///< For people: the last output of the boot probe, or the keys seen.
};
/// The init command of a new host has failed. Sent once by a link.
struct HostInitFailed {
  std::string ending;  ///< "status 3", or how it ended otherwise; without spaces at its ends.
  /// The end of its output, one printable line; empty: it printed nothing.
  std::string output_end;
  bool host_goes_on = false;  ///< The pool takes such hosts: the link goes on to the boot probe.
};
/// The host key was verified. Sent on every connection, before anything else.
struct HostVerified {
  VerifyMethod method{};
  std::string public_key;
};
/// A verified host without an agent has booted: its init command has ended and its boot probe has
/// passed. Sent once on a connection.
struct HostBooted {
  std::string boot_id;  ///< Empty: not known.
};
/// The host was verified before, and now another key is shown: nothing was sent there.
struct HostKeyAlarm {
  std::string seen_key;
  std::string text;
};
/// A key alarm that stands until the host itself is reached again.
struct StandingKeyAlarm {
  Wall since;
  std::string seen_key;  ///< The last one, if there were several.
};
/// The link has made the next key and secret on the verified host; they are not active yet.
struct RotationProposed {
  std::string next_public_key;
  std::string next_secret;
};
/// `rotated`: a new connection showed the next key, the old one may be forgotten. Else `never`: the
/// key cannot be replaced on this host ("rotation: none"). Else it failed, and the next connection
/// tries again; or it waits for the marker of the create, and may still begin.
struct RotationEnded {
  bool rotated = false;
  bool never = false;
  std::string text;
};

/// How long a link waits for the answer to a CommandProposed. Then it refuses the answer, and may
/// propose the command again.
inline constexpr Duration kProposalPatience = std::chrono::seconds(20);
/// The link needs a command to be run on the verified host; RunCommand is the answer, once the
/// start is in the ledger. None comes where the host may run no more commands.
struct CommandProposed {
  HostExec command;
  std::uint64_t number = 0;  ///< Rises in the life of the link.
};
/// How a command of RunCommand ended.
struct CommandEnded {
  std::uint64_t number = 0;
  std::optional<int> status;  ///< Unset if a signal ended it, or with `error`.
  std::string signal;
  std::string output, errors;    ///< Of its standard output and standard error: any bytes.
  bool truncated = false;        ///< More than is kept.
  std::string error;             ///< Why its end is not known, or why it was not started.
  bool outcome_unknown = false;  ///< With `error`: it may have started, and may still run.
};

enum class AttemptPhase : std::uint8_t { kRunning, kEnded, kUnknownEnd };
struct AttemptReport {
  AttemptId attempt;
  AttemptPhase phase{};
  std::vector<std::string> cards = {};  ///< UUIDs of those that it was started with.
};
/// The agent is connected: work may be sent. `attempts` are all that the agent knows and was not
/// told to forget. An attempt that the daemon sent in this boot and that is not among them never
/// started. The agent reports ended ones again by AttemptExited; running ones go on.
struct HostReady {
  std::string boot_id;
  std::uint64_t connection = 0;  ///< The number of the connection; it rises.
  std::uint64_t last_sequence = 0;
  std::vector<AttemptReport> attempts;
  std::optional<std::int64_t> scratch = {};  ///< Bytes that jobs may use there; unset: not known.
  std::optional<std::int64_t> ram = {};      ///< Bytes that it has; unset: not known.
  CardReport cards = {};
};
/// A later reading of the cards on the same connection; sent if it differs from the one before, and
/// each time if it has failed: the loop counts such readings.
struct HostCards {
  CardReport report;
};
/// A connection that had sent HostVerified ended, or its ping is overdue; the link reconnects.
struct HostLost {
  std::string text;
  Duration silent{};  ///< Since the host was last heard.
};
/// HostBroken::check of a host whose agent has lost its own folder.
inline constexpr const char* kFolderCheck = "folder";
/// A check of the host failed: it gets no new work; running attempts go on.
struct HostBroken {
  std::string check;
  std::string text;
};
/// The pool's `interruption_check` says that the cloud takes the host back, or no longer says so
/// (kWithdrawn).
struct HostInterruption {
  std::string text;  ///< What the check printed, one line.
  Wall at = {};      ///< 0: it names no time.
  InterruptionAction action = InterruptionAction::kNotSaid;
};
struct AttemptStarted {
  AttemptId attempt;
  Wall started;
};
/// The attempt never started: the agent refused it, or could not start it for a cause of the host
/// (AttemptStarted came before then), or the link never wrote the start to the connection.
struct AttemptRefused {
  AttemptId attempt;
  std::string text;
  /// The host or the job is the cause. False: the connection ended first, the host had no room, ...
  bool tried = true;
};
struct AttemptExited {
  AttemptId attempt;
  AttemptEnd end;
};
/// The output and files of an ended attempt are durable at the daemon, but for those in `lost`.
struct AttemptCollected {
  AttemptId attempt;
  std::string lost;
};

/// How much of the output of an ended attempt is here, when that has changed. Not sent for output
/// that comes at once.
struct OutputProgress {
  AttemptId attempt;
  std::uint64_t here = 0, size = 0;  ///< Bytes of both streams and of the files.
  bool waits_for_room = false;       ///< The daemon's disk has no room for the rest of it.
  /// Bytes that came on this connection. A new connection sends files again from their beginning.
  std::uint64_t received = 0;
  bool is_stored = true;  ///< All of these are durable: the host is waited for.
  friend bool operator==(const OutputProgress&, const OutputProgress&) = default;
};

using HostEventBody =
    std::variant<HostNotYet, HostInitFailed, HostVerified, HostBooted, HostKeyAlarm,
                 RotationProposed, RotationEnded, CommandProposed, CommandEnded, HostReady,
                 HostCards, HostLost, HostBroken, HostInterruption, AttemptStarted, AttemptRefused,
                 AttemptExited, AttemptCollected, OutputProgress>;
struct HostEvent {
  InstanceId instance;
  HostEventBody body;
};

}  // namespace hostler::model
