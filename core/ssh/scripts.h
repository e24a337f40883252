#pragma once

#include <string>
#include <string_view>

/// The fixed POSIX sh scripts that run on hosts. Private to core/ssh.
///
/// A script is sent on standard input to `sh -s -- ARGUMENT...`, so that it needs no quoting for
/// the login shell. It answers with one line that begins with a fixed word and the caller's nonce;
/// all other output, e.g. of the login shell, is ignored.
namespace hostler::ssh::scripts {

/// The file of the host's secret: the init script writes it, the challenge reads it.
#define HOSTLER_SECRET_FILE "${HOSTLER_AGENT_DIR:-/var/lib/hostler-agent}/secret"

/// The files of the init command are HOSTLER_INIT_FILES.status, .output and others; set $file, the
/// file of the secret, before.
#define HOSTLER_INIT_FILES "${file%/*}/init"

// With their arguments.
extern const std::string_view kChallenge;         ///< NONCE INSTANCE
extern const std::string_view kInitState;         ///< NONCE [INSTANCE]
extern const std::string_view kPrepareRotation;   ///< NONCE MARK KEY_TYPE KEY
extern const std::string_view kActivateRotation;  ///< NONCE KEY_TYPE KEY

/// "sh -s -- a b". Arguments must be words of [A-Za-z0-9_./+=:-]; asserted. With a prefix, as
/// "sudo -n ", the script still gets the variables that the driver has set for the session.
std::string command(std::string_view prefix, std::initializer_list<std::string_view> arguments);

/// The text after "WORD NONCE " in the first complete line that begins so; empty if there is none.
std::string_view answer(std::string_view output, std::string_view word, std::string_view nonce);

}  // namespace hostler::ssh::scripts
