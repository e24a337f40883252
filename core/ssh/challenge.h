#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/crypto/ssh_keys.h"
#include "core/ssh/session.h"

/// The proof that a host holds the secret of its init script, bound to the key that it shows:
/// HMAC-SHA256 over nonce, instance and the host's own key. The key comes from the host's file and
/// never from the request, so a proof that is relayed does not fit the relay's key.
namespace hostler::ssh {

struct Challenge {
  std::string nonce;     ///< Hexadecimal, never used twice.
  std::string instance;  ///< "h-7".
};

/// What to run on the host; nothing in it is secret.
[[nodiscard]] ExecRequest challenge_request(const Challenge& challenge);

/// The answer that proves the host. `secret` is hexadecimal.
[[nodiscard]] std::string expected_proof(const Challenge& challenge, std::string_view secret,
                                         const crypto::SshPublicKey& shown);

/// Looks for the proof in what the host printed. The error says why there is none, or that it is
/// wrong; it is kUnavailable, for a booting host may yet give it.
[[nodiscard]] Result<void> check_proof(const Challenge& challenge, std::string_view secret,
                                       const crypto::SshPublicKey& shown, const ExecResult& said);

/// Runs the challenge on an authenticated session. `secret` and `instance` are copied.
boost::asio::awaitable<Result<void>> prove(Session& session, std::string instance,
                                           std::string secret);

}  // namespace hostler::ssh
