#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/protocol.h"
#include "core/base/error.h"
#include "core/model/host.h"
#include "core/model/policy.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

/// How to reach hosts and how to run the agent there. Immutable while links run; Hosts::set_pools()
/// replaces `pools` later.
struct HostSettings {
  enum class Escalate : std::uint8_t { kAuto, kSudo, kNone };
  /// A server through which the hosts of a set are reached.
  struct Proxy {
    std::string host;
    std::uint16_t port = 22;
    std::string name;  ///< "bastion.example:22", for messages.
    std::string user;
    std::vector<std::string> private_keys;  ///< Secrets, tried in this order.
    std::string host_key;                   ///< "ssh-ed25519 AAAA...": the only one accepted.
  };
  struct Set {
    std::vector<std::string> private_keys;  ///< Secrets, tried in this order.
    Escalate escalate = Escalate::kAuto;
    std::optional<Proxy> proxy;
    /// For names that its driver reports as addresses: no other set waits for them.
    std::shared_ptr<ssh::NameResolver> names = std::make_shared<ssh::NameResolver>();
  };
  std::map<std::string, Set> sets;
  std::map<std::string, model::PoolPolicy> pools;
  std::string agent_program;  ///< The static binary's bytes.
  std::string agent_sha256;
  /// The agent's folder on hosts whose driver names none. Empty: chosen by the rights of the login.
  std::string agent_folder;
  std::uint32_t uid_first = 0, uid_count = 0;
  std::uint64_t blobs_max = std::uint64_t{10} << 30;  ///< Bytes of inputs that a host keeps.
  std::uint32_t processes_max = 0;                    ///< Of one attempt; 0: no limit.
  std::uint64_t kill_grace_us = 10'000'000;           ///< Between TERM and KILL.
  std::uint64_t output_head_max = std::uint64_t{16} << 20,
                output_tail_max = std::uint64_t{16} << 20;
  /// How many bytes may wait for an agent that does not read, before the connection is ended.
  /// Starts and inputs are not counted in full: they wait in their queue and add a mebibyte and one
  /// message at most.
  std::size_t unread_max = std::size_t{16} << 20;
  struct Patience {
    /// How long after the first connection a host may take to run the init script of its create. A
    /// host without what that leaves there keeps its host key.
    Duration marker = std::chrono::minutes(10);
    /// How long a link waits for the answer to a command that it has proposed.
    Duration proposal = model::kProposalPatience;
    /// How long an agent may take to list its attempts and to tell of its cards, which takes 10 s
    /// at most. One that never tells must not keep its host from work without cards.
    Duration cards = std::chrono::seconds(30);
  };
  Patience patience;
  std::uint64_t seed = 1;  ///< For the jitter of the pauses between connections.
};

/// How many bytes of an attempt's output are durable: a new connection continues there.
struct DurableOutput {
  std::uint64_t stdout_bytes = 0, stderr_bytes = 0;
};

/// The daemon's disk, as output sees it, in bytes.
struct DiskRoom {
  std::uint64_t free = 0, total = 0;
};

/// The functions of the daemon that links use. They are called on the hosts thread and may block
/// for a file read at most. A `durable` callback is called once, on any thread: with the durable
/// end of the stream, with kUnavailable if the host should send the data again later, or with the
/// reason why it can never be stored.
struct HostPorts {
  std::function<void(model::HostEvent)> post;
  /// Asks the driver whether the key, a line "ssh-ed25519 AAAA...", belongs to the host. An error:
  /// the driver does not know. The answer may come on any thread.
  std::function<void(const model::HostTarget&, const std::string& key,
                     std::function<void(Result<bool>)>)>
      ask_driver;
  std::function<void(model::AttemptId, std::uint32_t stream, std::uint64_t offset, std::string data,
                     std::function<void(Result<std::uint64_t>)> durable)>
      append_output;
  std::function<void(model::AttemptId, const std::vector<agent::OutputFile>&,
                     std::function<void(Result<void>)> durable)>
      output_files;
  std::function<DurableOutput(model::AttemptId)> durable_output;
  /// About the bytes of the attempt's streams and files that are here.
  std::function<std::uint64_t(model::AttemptId)> kept_output;
  std::function<DiskRoom()> disk_room;
  /// A piece of a blob, at most kChunkMax long, and the size of the blob. kNotFound if there is no
  /// such blob.
  struct BlobPiece {
    std::string data;
    std::uint64_t size = 0;
  };
  std::function<Result<BlobPiece>(const std::string& sha256, std::uint64_t offset)> read_blob;
  /// Parses the body of a job.
  std::function<Result<model::JobSpec>(const std::string& body)> read_job;
  /// Takes so many descriptors for a connection, for as long as the answer is kept. Null: there are
  /// not so many left. May be empty: there is no bound.
  std::function<std::shared_ptr<void>(unsigned count)> take_places;
  /// The jump host of a set cannot be logged in to, and why; with "": it works again. Told when
  /// this changes. May be empty.
  std::function<void(const std::string& set, const std::string& problem)> jump_host_changed;
  /// Counts a try to prove a host: its method on success, or whether it raised an alarm.
  std::function<void(std::optional<model::VerifyMethod>, bool alarm)> count_verification;
};

}  // namespace hostler::hosts
