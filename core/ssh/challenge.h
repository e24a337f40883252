#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/crypto/ssh_keys.h"
#include "core/ssh/session.h"

/// Proves that a host has the secret of its init script: a script on the host answers with an
/// HMAC-SHA256 over a nonce, the instance and the host's public key. The script reads this key from
/// the host's own key file. So a machine in between that relays the proof fails, because the proof
/// names another key than the one that this machine shows.
namespace hostler::ssh {

struct Challenge {
  std::string nonce;     ///< Hexadecimal; another one for each challenge.
  std::string instance;  ///< "h-7".
};

/// The command to run on the host; it contains no secret.
[[nodiscard]] ExecRequest challenge_request(const Challenge& challenge);

/// The proof that the right host gives. `secret` is hexadecimal; `shown_key` is the host key that
/// the connection showed.
[[nodiscard]] std::string expected_proof(const Challenge& challenge, std::string_view secret,
                                         const crypto::SshPublicKey& shown_key);

/// Checks the proof in the output of the command. The error says why the proof is missing or wrong.
/// Its code is kUnavailable, since a host that is still booting may succeed later.
[[nodiscard]] Result<void> check_proof(const Challenge& challenge, std::string_view secret,
                                       const crypto::SshPublicKey& shown_key,
                                       const ExecResult& result);

/// Runs a challenge on an authenticated session. Ends by the limit of the command, see ExecRequest.
boost::asio::awaitable<Result<void>> prove(Session& session, std::string instance,
                                           std::string secret);

}  // namespace hostler::ssh
