#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/time.h"
#include "core/model/ids.h"
#include "core/model/instance.h"
#include "core/model/job.h"

/// What the loop says to a host's link, and what the link says back. Values only: the link lives
/// on the hosts thread, the loop on its own.
namespace hostler::model {

/// All that is needed to reach one host and to know it again.
struct HostTarget {
  InstanceId instance;
  std::string set;          ///< For the driver's host-key extension.
  std::string provider_id;  ///< Likewise.
  std::string address;
  std::uint16_t port = 22;
  std::string user;
  std::string pool;  ///< Names the policy: accepted methods, probes, checks.
  HostIdentity identity;
};

// ---- commands ----------------------------------------------------------------------------------

/// Reach the host, prove it, put the agent there, keep the channel open; reconnect until told
/// otherwise. Sent again with a new address or identity it replaces what was known.
struct ConnectHost {
  HostTarget target;
};
/// Forget the host: the link ends, nothing more is said about it.
struct DisconnectHost {
  InstanceId instance;
};
/// Start one attempt. `boot_id` and `connection` are from the last HostReady that the loop has
/// seen; a link whose connection is a later one refuses it, for the loop has counted it as never
/// started. `sequence` rises with every start on this boot.
struct StartAttempt {
  InstanceId instance;
  AttemptId attempt;
  std::string boot_id;
  std::uint64_t connection = 0;
  std::uint64_t sequence = 0;
  std::shared_ptr<const JobSpec> spec;
};
/// Answers every HostReady: these of the attempts it told are this host's, running or with their
/// end or output still to come. Only now the link hears more of that connection, and takes output
/// of these and of what it is told to start.
struct ResumeAttempts {
  InstanceId instance;
  std::uint64_t connection = 0;
  std::vector<AttemptId> attempts;
};
/// TERM, then KILL after the grace; the attempt still ends with AttemptExited.
struct KillAttempt {
  InstanceId instance;
  AttemptId attempt;
};
/// The attempt's end is durable here and all of its output is too: the host may forget it.
struct AckAttempt {
  InstanceId instance;
  AttemptId attempt;
};
/// The rotation proposed by the link is durable; carry it out and show the new key.
struct ActivateRotation {
  InstanceId instance;
  HostIdentity identity;
};

using HostCommand = std::variant<ConnectHost, DisconnectHost, ResumeAttempts, StartAttempt,
                                 KillAttempt, AckAttempt, ActivateRotation>;

// ---- events ------------------------------------------------------------------------------------

/// A try failed before the host was ever proved, or its boot probe does not pass yet.
struct HostNotYet {
  std::string step;  ///< "resolve", "connect", "key_exchange", "verify", "auth", "probe", "agent".
  std::string text;  ///< For people; keeps the last output of the boot probe, and the keys seen.
};
/// The host key was proved. Sent on every connection, before anything else is done.
struct HostVerified {
  VerifyMethod method{};
  std::string public_key;
};
/// After the first success another key was shown: nothing was sent to it.
struct HostKeyAlarm {
  std::string seen_key;
  std::string text;
};
/// Such an alarm as long as it stands: until the host itself is reached again.
struct StandingKeyAlarm {
  Wall since;
  std::string seen_key;  ///< The last one, if there were several.
};
/// The link has made the next key and secret on the verified host; nothing is active yet.
struct RotationProposed {
  std::string next_public_key;
  std::string next_secret;
};
/// A new connection showed the next key: the old one may be forgotten. `rotated` false: it may not
/// be replaced there ("rotation: none"), or failed and is tried again at the next connection.
struct RotationEnded {
  bool rotated = false;
  bool never = false;
  std::string text;
};

enum class AttemptPhase : std::uint8_t { kRunning, kEnded, kUnknownEnd };
struct AttemptReport {
  AttemptId attempt;
  AttemptPhase phase{};
};
/// The agent answers: work may be sent. `attempts` is everything it knows and was not told to
/// forget; what the daemon sent in this boot and is not in it never started.
/// Ended ones are told again by AttemptExited on this connection, running ones go on.
struct HostReady {
  std::string boot_id;
  std::uint64_t connection = 0;  ///< Counts this link's connections; rises.
  std::uint64_t last_sequence = 0;
  std::vector<AttemptReport> attempts;
};
/// The connection ended or its keepalive ran out; the link goes on trying.
struct HostLost {
  std::string text;
};
/// A broken-host check failed: no new work; what runs goes on.
struct HostBroken {
  std::string check;
  std::string text;
};
/// The cloud is about to take the host away, by the agent's word.
struct HostInterruption {
  std::string text;
};
struct AttemptStarted {
  AttemptId attempt;
  Wall started;
};
/// Never started: refused before exec (other boot, used sequence, busy agent), or by the link
/// itself because it never wrote the start to this connection.
struct AttemptRefused {
  AttemptId attempt;
  std::string text;
};
struct AttemptExited {
  AttemptId attempt;
  AttemptEnd end;
};
/// All output and files of an ended attempt are durable at the daemon. `lost` says what is not.
struct AttemptCollected {
  AttemptId attempt;
  std::string lost;
};

using HostEventBody = std::variant<HostNotYet, HostVerified, HostKeyAlarm, RotationProposed,
                                   RotationEnded, HostReady, HostLost, HostBroken, HostInterruption,
                                   AttemptStarted, AttemptRefused, AttemptExited, AttemptCollected>;
struct HostEvent {
  InstanceId instance;
  HostEventBody body;
};

}  // namespace hostler::model
