#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/config/credentials.h"
#include "core/model/driver_trust.h"
#include "core/model/job_limits.h"
#include "core/model/policy.h"
#include "core/model/sandbox.h"

/// The configuration as values. It is read and checked as a whole, and then passed by const
/// reference. config/README.md describes each key and its default.
namespace hostler::config {

using namespace std::chrono_literals;

enum class Escalate : std::uint8_t { kAuto, kSudo, kNone };

struct Token {
  std::string name;
  std::string role;                     ///< "admin", "submit", "read" or "scaler".
  std::string sha256;                   ///< Hash of the token, 64 hex digits.
  std::vector<std::string> pools = {};  ///< Of the role "scaler": for which it may push.
  friend bool operator==(const Token&, const Token&) = default;
};

struct Access {
  std::string socket_path;  ///< Absolute; empty: no unix socket.
  unsigned socket_mode = 0660;
  std::string socket_group;  ///< Empty: the default group of the process.
  std::string
      tcp_address;  ///< Numeric; empty: no TCP. TLS is set unless this is a loopback address.
  std::uint16_t tcp_port = 0;
  std::vector<Token> tokens;
  std::string tls_certificate_file, tls_key_file;  ///< Both or none; PEM.
  friend bool operator==(const Access&, const Access&) = default;
};

/// A private key for logging in to hosts.
struct UserKey {
  std::string file;
  std::string private_key;  ///< The content of the file. A secret.
  std::string public_key;   ///< "ssh-ed25519 AAAA..."
  friend bool operator==(const UserKey&, const UserKey&) = default;
};

/// The jump host through which the hosts of a set are reached.
struct Proxy {
  std::string host;
  std::uint16_t port = 22;
  std::string user;
  std::vector<UserKey> user_keys;  ///< In the order of use; empty: those of the set.
  std::string host_key;            ///< "ssh-ed25519 AAAA...": the only one accepted.
  /// "bastion.example:22", for messages.
  [[nodiscard]] std::string name() const;
  friend bool operator==(const Proxy&, const Proxy&) = default;
};

/// The settings of an instance set, except its policy, which is in SitePolicy::sets at the same
/// index.
struct Set {
  std::string name;
  std::string driver;
  std::optional<model::Sandbox> sandbox;  ///< Nothing: the default of the driver.
  std::vector<std::string> readable;      ///< Absolute paths.
  std::string config_json = "{}";         ///< For the driver; placeholders are already replaced.
  CredentialSource credentials;
  std::string credentials_json;    ///< A secret, as the source gave it; empty: none, or a command.
  std::vector<UserKey> user_keys;  ///< In the order of use; empty: a key in the state folder.
  Escalate escalate = Escalate::kAuto;
  std::optional<Proxy> proxy;
  std::string record;  ///< Absolute: the file that the calls of the driver are recorded in.
  std::int64_t record_max = std::int64_t{64} << 20;  ///< Bytes of this file.
  friend bool operator==(const Set&, const Set&) = default;
};

/// Settings of the agents on the hosts.
struct Agent {
  std::string folder;  ///< On the host; empty: the default of the user that hostler logs in as.
  std::uint32_t uid_first = 65'600, uid_count = 1'000;  ///< For jobs; count 0: the agent's uid.
  std::int64_t blobs_max = std::int64_t{10} << 30;
  std::int64_t output_head_max = std::int64_t{16} << 20;  ///< Bytes kept of the start
  std::int64_t output_tail_max = std::int64_t{16} << 20;  ///< and of the end of each stream.
  std::uint32_t processes_max = 16'384;                   ///< Of one job; 0: no limit.
  Duration kill_grace = 10s;                              ///< Between TERM and KILL.
  friend bool operator==(const Agent&, const Agent&) = default;
};

/// Limits on the requests of users.
struct Limits {
  std::size_t jobs_per_submit_max = 100'000;
  std::int64_t body_max = std::int64_t{64} << 20;  ///< Of one request.
  std::int64_t blob_max = std::int64_t{10} << 30;  ///< Of one input.
  model::JobLimits job;
  friend bool operator==(const Limits&, const Limits&) = default;
};

/// Ledger records are removed, oldest first, when either limit is exceeded.
struct LedgerKeep {
  Duration age = 24h * 30;
  std::int64_t bytes = std::int64_t{10} << 30;
  friend bool operator==(const LedgerKeep&, const LedgerKeep&) = default;
};

struct Config {
  std::filesystem::path state_dir;  ///< Absolute.
  /// Bytes of the disk that are kept for rows; nullopt: store::Reserve::usual_bytes().
  std::optional<std::uint64_t> disk_reserve;
  std::string postgres;  ///< Connection string for libpq, without a password; empty: use SQLite.
  std::vector<std::filesystem::path> driver_path;
  model::TrustedDrivers trusted_drivers;
  model::Sandbox sandbox_min = model::Sandbox::kNone;  ///< A set with less is not opened.
  Access access;
  std::vector<Set> sets;
  model::SitePolicy site;
  std::vector<model::MetricSource> metric_sources;  ///< Of site.metrics, by the same index.
  Agent agent;
  Limits limits;
  LedgerKeep ledger_keep;
  std::string log_level = "info";  ///< "debug", "info", "warn" or "error".
  std::string text;                ///< All of the above as it was read.
  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace hostler::config
