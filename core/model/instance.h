#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostler::model {

/// The life of an instance; core/fleet moves it.
enum class InstanceState : std::uint8_t {
  kRequested,
  kBooting,
  kUnknown,
  kIdle,
  kBusy,
  kStopped,
  kTerminating,
  kAbandoned,
  kGone,
};
const char* to_string(InstanceState state);

/// What an admin wants of a host; wins over every policy.
enum class IdleBehavior : std::uint8_t { kRun, kHold, kDrain };
const char* to_string(IdleBehavior behavior);
std::optional<IdleBehavior> parse_idle_behavior(std::string_view text);

enum class Health : std::uint8_t { kHealthy, kUnreachable, kBroken };
const char* to_string(Health health);

/// How a host proved to be the one that was asked for (docs/threats.md, "Host verification, method
/// by method").
enum class VerifyMethod : std::uint8_t { kDriver, kDelivered, kChallenge };
const char* to_string(VerifyMethod method);
std::optional<VerifyMethod> parse_verify_method(std::string_view text);

/// The replacement of key and secret by such as no user data has seen.
enum class Rotation : std::uint8_t {
  kDue,
  kNone,  ///< The host's key cannot be replaced there.
  kDone,
};
const char* to_string(Rotation rotation);

/// What is known of a host's identity and survives restarts. Secrets: 0600 in the store, never
/// shown.
struct HostIdentity {
  std::string delivered_private_key;  ///< OpenSSH form; erased after the first verification.
  std::string delivered_public_key;   ///< "ssh-ed25519 AAAA..."; empty where none was delivered.
  std::string challenge_secret;       ///< hex; the one that the host has now.
  std::string public_key;             ///< What the host showed when it was last proved.
  std::string next_public_key;        ///< Committed by a rotation, not yet seen; both are accepted.
  std::string next_secret;            ///< Goes with next_public_key.
  std::optional<VerifyMethod> verified_by;  ///< Unset until the first success.
  Rotation rotation = Rotation::kDue;
  friend bool operator==(const HostIdentity&, const HostIdentity&) = default;
};

}  // namespace hostler::model
