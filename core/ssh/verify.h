#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/base/time.h"
#include "core/model/instance.h"

/// Decides whether the key that a host shows is accepted (docs/threats.md, "Host verification,
/// method by method"). Pure.
namespace hostler::ssh {

enum class Verdict : std::uint8_t {
  kAccept,     ///< The key is proved: log in and use the host.
  kAskDriver,  ///< Ask the driver whether the key belongs to this instance, then judge again.
  kChallenge,  ///< Log in and send the challenge, but nothing else.
  kNotYet,     ///< Disconnect and try again later: a booting host may show another key at first.
  kAlarm,      ///< Disconnect and raise the alarm: a proved host shows a key that is not its own.
};

struct Judgement {
  Verdict verdict{};
  model::VerifyMethod method{};  ///< With kAccept: the method that proves the key, now or earlier.
  bool is_next = false;          ///< With kAccept: it is the next key of a rotation.
  std::string why;               ///< With kNotYet and kAlarm: a sentence that names the keys.
};

/// Judges the key that the host shows: `shown`, a line "ssh-ed25519 AAAA...". `driver_says` is the
/// driver's answer; unset until it was asked.
[[nodiscard]] Judgement judge(const model::HostIdentity& identity,
                              const std::vector<model::VerifyMethod>& accepted,
                              std::string_view shown, std::optional<bool> driver_says);

/// The type of key to ask the server for first, e.g. "ssh-ed25519"; empty if no key is known.
[[nodiscard]] std::string expected_key_type(const model::HostIdentity& identity);

/// Pause before the next try after `failures` failures in a row: 0.2 s, doubled up to 5 s, and
/// varied by 20 % at random.
[[nodiscard]] Duration retry_pause(unsigned failures, Random& random);
/// The number of failures in a row after a connection that was usable for this time and has ended.
/// After a short one the number stays, so that a host that always hangs up is retried less often.
[[nodiscard]] unsigned failures_after(unsigned failures, Duration usable);

}  // namespace hostler::ssh
