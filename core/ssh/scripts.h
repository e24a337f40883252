#pragma once

#include <string>
#include <string_view>

/// The fixed POSIX sh scripts that run on hosts. Private to core/ssh.
///
/// Each is sent on standard input to `sh -s -- ARGUMENT...`, so that no login shell has to quote
/// it, and answers with one whole line that begins with a word of ours and the caller's nonce;
/// whatever else a noisy login shell prints is passed over.
namespace hostler::ssh::scripts {

/// Where the host keeps its secret: written by the init script, read by the challenge.
#define HOSTLER_SECRET_FILE "${HOSTLER_AGENT_DIR:-/var/lib/hostler-agent}/secret"

extern const std::string_view kChallenge;         ///< NONCE INSTANCE
extern const std::string_view kPrepareRotation;   ///< NONCE
extern const std::string_view kActivateRotation;  ///< NONCE KEY_TYPE KEY

/// "sh -s -- a b". Arguments are words of [A-Za-z0-9_./+=:-]; asserted.
std::string command(std::string_view prefix, std::initializer_list<std::string_view> arguments);

/// What stands behind "WORD NONCE " in the first whole line that begins so; empty if none does.
std::string_view answer(std::string_view output, std::string_view word, std::string_view nonce);

}  // namespace hostler::ssh::scripts
