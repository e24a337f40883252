#include "core/ssh/challenge.h"

#include "core/base/text.h"
#include "core/crypto/hash.h"
#include "core/crypto/random.h"
#include "core/ssh/scripts.h"

namespace hostler::ssh {

ExecRequest challenge_request(const Challenge& challenge) {
  ExecRequest out;
  out.command = scripts::command("", {challenge.nonce, challenge.instance});
  out.input = scripts::kChallenge;
  out.output_max = 65536;
  out.received_max = std::size_t{1} << 20U;  // the host is not proved yet
  return out;
}

std::string expected_proof(const Challenge& challenge, std::string_view secret,
                           const crypto::SshPublicKey& shown_key) {
  const auto key = from_hex(secret).value_or(std::vector<std::uint8_t>{});
  return to_hex(crypto::hmac_sha256(std::string(key.begin(), key.end()),
                                    "hostler-challenge-1 " + challenge.nonce + " " +
                                        challenge.instance + " " + shown_key.line()));
}

Result<void> check_proof(const Challenge& challenge, std::string_view secret,
                         const crypto::SshPublicKey& shown_key, const ExecResult& result) {
  const std::string_view proof = scripts::answer(result.output, "hostler-proof", challenge.nonce);
  if (!proof.empty()) {
    if (!secret.empty() &&
        crypto::equal_in_constant_time(proof, expected_proof(challenge, secret, shown_key)))
      return {};
    return fail(
        Errc::kUnavailable,
        "challenge: wrong proof: the host has another secret, or the machine that shows key " +
            shown_key.fingerprint() + " is not the host");
  }
  const std::string_view cannot = scripts::answer(result.output, "hostler-cannot", challenge.nonce);
  if (!cannot.empty())
    return fail(Errc::kUnavailable, "challenge: the host reports: " + printable(cannot));
  return fail(Errc::kUnavailable,
              "challenge: the host sent no proof. Perhaps a start-up file of its login shell "
              "(~/.bashrc, ~/.profile) runs exec or reads the input, or a ForceCommand in "
              "sshd_config replaces the script: " +
                  result.describe());
}

boost::asio::awaitable<Result<void>> prove(Session& session, std::string instance,
                                           std::string secret) {
  const Challenge challenge{crypto::random_hex(16), std::move(instance)};
  auto request = challenge_request(challenge);
  const auto result = co_await session.exec(std::move(request));
  if (!result) co_return tl::unexpected(Error(result.error()).with_context("challenge"));
  co_return check_proof(challenge, secret, session.host_key(), *result);
}

}  // namespace hostler::ssh
