#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/job_limits.h"
#include "core/model/policy.h"

/// The configuration as values: read once, checked whole, then passed around by const reference.
/// What each key means and its default is in config/README.md.
namespace hostler::config {

using namespace std::chrono_literals;

enum class Isolation : std::uint8_t { kChild, kInProcess };
enum class Escalate : std::uint8_t { kAuto, kSudo, kNone };

struct Token {
  std::string name;
  std::string role;    ///< "admin", "submit" or "read".
  std::string sha256;  ///< Of the token, 64 hex digits.
  friend bool operator==(const Token&, const Token&) = default;
};

struct Access {
  std::string socket_path;  ///< Absolute; empty: no unix socket.
  unsigned socket_mode = 0660;
  std::string socket_group;  ///< Empty: left as the process makes it.
  std::string tcp_address;   ///< Numeric; empty: no TCP. Beyond loopback TLS is set.
  std::uint16_t tcp_port = 0;
  std::vector<Token> tokens;
  std::string tls_certificate_file, tls_key_file;  ///< Both or none; PEM.
  friend bool operator==(const Access&, const Access&) = default;
};

/// A private key to log in with.
struct UserKey {
  std::string file;
  std::string private_key;  ///< A secret, as it is in the file.
  std::string public_key;   ///< "ssh-ed25519 AAAA..."
  friend bool operator==(const UserKey&, const UserKey&) = default;
};

/// What a set needs beside its policy, which is SitePolicy::sets at the same index.
struct Set {
  std::string name;
  std::string driver;
  Isolation isolation = Isolation::kChild;
  std::string config_json = "{}";  ///< For the driver; placeholders are replaced.
  std::string credentials_json;    ///< A secret; empty: none.
  std::vector<UserKey> user_keys;  ///< First one is tried first; empty: made in the state folder.
  Escalate escalate = Escalate::kAuto;
  friend bool operator==(const Set&, const Set&) = default;
};

/// What agents are told, and where they live.
struct Agent {
  std::string folder;  ///< On the host; empty: chosen by the user that hostler logs in as.
  std::uint32_t uid_first = 65'600, uid_count = 1'000;  ///< Of jobs; count 0: the agent's own.
  std::int64_t blobs_max = std::int64_t{10} << 30;
  std::int64_t output_head_max = std::int64_t{16} << 20;  ///< Kept of each stream's begin,
  std::int64_t output_tail_max = std::int64_t{16} << 20;  ///< and of its end.
  std::uint32_t processes_max = 16'384;                   ///< Of one job; 0: no bound.
  Duration kill_grace = 10s;                              ///< Between TERM and KILL.
  friend bool operator==(const Agent&, const Agent&) = default;
};

/// What users may send.
struct Limits {
  std::size_t jobs_per_submit_max = 100'000;
  std::int64_t body_max = std::int64_t{64} << 20;  ///< Of one request.
  std::int64_t blob_max = std::int64_t{10} << 30;  ///< Of one input.
  model::JobLimits job;
  friend bool operator==(const Limits&, const Limits&) = default;
};

/// Older ledger records go when either is passed.
struct LedgerKeep {
  Duration age = 24h * 30;
  std::int64_t bytes = std::int64_t{10} << 30;
  friend bool operator==(const LedgerKeep&, const LedgerKeep&) = default;
};

struct Config {
  std::filesystem::path state_dir;  ///< Absolute.
  std::string postgres;             ///< libpq's connection string, without password; empty: SQLite.
  std::vector<std::filesystem::path> driver_path;
  Access access;
  std::vector<Set> sets;
  model::SitePolicy site;
  Agent agent;
  Limits limits;
  LedgerKeep ledger_keep;
  std::string log_level = "info";  ///< "debug", "info", "warn" or "error".
  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace hostler::config
