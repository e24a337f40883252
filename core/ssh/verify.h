#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/base/time.h"
#include "core/model/instance.h"

/// What a host key that was shown means (docs/threats.md, "Host verification, method by method").
/// Pure.
namespace hostler::ssh {

enum class Verdict : std::uint8_t {
  kAccept,     ///< This is the host: log in and work.
  kAskDriver,  ///< Ask the driver whether the key is this instance's, then judge again.
  kChallenge,  ///< Log in, send the challenge and nothing else.
  kNotYet,     ///< Hang up now, try again later: a booting host may show another key at first.
  kAlarm,      ///< Hang up, raise the alarm: a proved host shows a key that is not its own.
};

struct Judgement {
  Verdict verdict{};
  model::VerifyMethod method{};  ///< With kAccept: what proves, or once proved, the key.
  bool is_next = false;          ///< With kAccept: it is the key of a rotation under way.
  std::string why;               ///< With kNotYet and kAlarm: for people, names the keys.
};

/// Judges `shown`, a line "ssh-ed25519 AAAA...". `driver_says` is unset until the driver was asked.
[[nodiscard]] Judgement judge(const model::HostIdentity& identity,
                              const std::vector<model::VerifyMethod>& accepted,
                              std::string_view shown, std::optional<bool> driver_says);

/// Type of the key to ask the server for first, "ssh-ed25519"; empty if none is known.
[[nodiscard]] std::string expected_key_type(const model::HostIdentity& identity);

/// Pause before try number `failures` + 1: 0.2 s, doubling to 5 s, each 20 % up or down.
[[nodiscard]] Duration retry_pause(unsigned failures, Random& random);
/// Failures in a row that count once a connection has ended that was of use for so long.
[[nodiscard]] unsigned failures_after(unsigned failures, Duration of_use);

}  // namespace hostler::ssh
