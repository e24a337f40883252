#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/agent/protocol.h"
#include "core/base/error.h"
#include "core/model/host.h"
#include "core/model/policy.h"
#include "core/ssh/session.h"

namespace hostler::hosts {

/// How hosts are reached and what is put there. Immutable while links run; `pools` is what
/// they begin with, Hosts::set_pools changes it.
struct HostSettings {
  enum class Escalate : std::uint8_t { kAuto, kSudo, kNone };
  struct Set {
    std::vector<std::string> private_keys;  ///< Secrets; tried in order.
    Escalate escalate = Escalate::kAuto;
  };
  std::map<std::string, Set> sets;
  std::map<std::string, model::PoolPolicy> pools;
  std::string agent_program;  ///< The static binary's bytes.
  std::string agent_sha256;
  std::string agent_folder;  ///< On hosts whose driver names none; empty: by the login's rights.
  std::uint32_t uid_first = 0, uid_count = 0;
  std::uint64_t blobs_max = std::uint64_t{10} << 30;  ///< Bytes of inputs kept on a host.
  std::uint32_t processes_max = 0;                    ///< Of one attempt; 0: no bound.
  std::uint64_t kill_grace_us = 10'000'000;           ///< Between TERM and KILL.
  std::uint64_t output_head_max = std::uint64_t{16} << 20,
                output_tail_max = std::uint64_t{16} << 20;
  /// Bytes that may wait for an agent to read them; starts and inputs wait for it anyway, and add
  /// a frame to a mebibyte at most.
  std::size_t unread_max = std::size_t{16} << 20;
  std::uint64_t seed = 1;  ///< Of back-off jitter.
};

/// Bytes of every output stream that are durable here; where a new connection resumes.
struct DurableOutput {
  std::uint64_t stdout_bytes = 0, stderr_bytes = 0;
};

/// What links need of the rest of the daemon. Called on the hosts thread; none may block for
/// longer than a file read. `durable` callbacks come once, on any thread: with the stream's durable
/// end, kUnavailable where it is to be sent again some day, or why it can never be kept.
struct HostPorts {
  std::function<void(model::HostEvent)> post;
  /// Whether the driver vouches for the key (a line "ssh-ed25519 AAAA..."); an error: it cannot
  /// say.
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
  /// A piece of a blob at most kChunkMax long, and the blob's size; kNotFound if it is not here.
  struct BlobPiece {
    std::string data;
    std::uint64_t size = 0;
  };
  std::function<Result<BlobPiece>(const std::string& sha256, std::uint64_t offset)> read_blob;
  /// Parses a job's body.
  std::function<Result<model::JobSpec>(const std::string& body)> read_job;
  std::function<void(std::optional<model::VerifyMethod>, bool alarm)> count_verification;
};

}  // namespace hostler::hosts
