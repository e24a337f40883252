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
  kVanished,  ///< The cloud no longer shows it; it is itself again if a list shows it.
  kGone,
};
const char* to_string(InstanceState state);

/// What an admin wants of an idle host. It overrides every policy.
enum class IdleBehavior : std::uint8_t { kRun, kHold, kDrain };
const char* to_string(IdleBehavior behavior);
std::optional<IdleBehavior> parse_idle_behavior(std::string_view text);

enum class Health : std::uint8_t { kHealthy, kUnreachable, kBroken };
const char* to_string(Health health);

/// How a host proved that it is the created machine (docs/threats.md, "Host verification, method by
/// method").
enum class VerifyMethod : std::uint8_t { kDriver, kDelivered, kChallenge };
const char* to_string(VerifyMethod method);
std::optional<VerifyMethod> parse_verify_method(std::string_view text);

/// The replacement of host key and secret, so that the new ones were never in user data.
enum class Rotation : std::uint8_t {
  kDue,
  kNone,  ///< The host's key cannot be replaced there.
  kDone,
};
const char* to_string(Rotation rotation);

/// The identity of a host, durable. It has secrets: they are in the store with mode 0600, and never
/// shown.
struct HostIdentity {
  std::string delivered_private_key;        ///< OpenSSH form; erased after the first verification.
  std::string delivered_public_key;         ///< "ssh-ed25519 AAAA..."; empty: none was delivered.
  std::string challenge_secret;             ///< Hex; of the host now.
  std::string public_key;                   ///< The key of the last verification.
  std::string next_public_key;              ///< Of a rotation under way; both keys are accepted.
  std::string next_secret;                  ///< Goes with next_public_key.
  std::optional<VerifyMethod> verified_by;  ///< Unset until the first success.
  Rotation rotation = Rotation::kDue;
  friend bool operator==(const HostIdentity&, const HostIdentity&) = default;
};

}  // namespace hostler::model
