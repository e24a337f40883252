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
  out.flood_min = std::size_t{1} << 20U;  // Whoever answers has proved nothing yet.
  return out;
}

std::string expected_proof(const Challenge& challenge, std::string_view secret,
                           const crypto::SshPublicKey& shown) {
  const auto key = from_hex(secret).value_or(std::vector<std::uint8_t>{});
  return to_hex(crypto::hmac_sha256(
      std::string(key.begin(), key.end()),
      "hostler-challenge-1 " + challenge.nonce + " " + challenge.instance + " " + shown.line()));
}

Result<void> check_proof(const Challenge& challenge, std::string_view secret,
                         const crypto::SshPublicKey& shown, const ExecResult& said) {
  const std::string_view proof = scripts::answer(said.output, "hostler-proof", challenge.nonce);
  if (!proof.empty()) {
    if (!secret.empty() &&
        crypto::equal_in_constant_time(proof, expected_proof(challenge, secret, shown)))
      return {};
    return fail(Errc::kUnavailable,
                "challenge: wrong proof: the host has another secret, or what answers with key " +
                    shown.fingerprint() + " is not the host itself");
  }
  const std::string_view cannot = scripts::answer(said.output, "hostler-cannot", challenge.nonce);
  if (!cannot.empty())
    return fail(Errc::kUnavailable, "challenge: the host says: " + printable(cannot));
  return fail(Errc::kUnavailable,
              "challenge: no proof came. A start-up file of the login shell there (~/.bashrc, "
              "~/.profile) that execs or reads, or a ForceCommand in sshd_config, keeps the script "
              "from running: " +
                  said.describe());
}

boost::asio::awaitable<Result<void>> prove(Session& session, std::string instance,
                                           std::string secret) {
  const Challenge challenge{crypto::random_hex(16), std::move(instance)};
  auto request = challenge_request(challenge);
  const auto said = co_await session.exec(std::move(request));
  if (!said) co_return tl::unexpected(Error(said.error()).with_context("challenge"));
  co_return check_proof(challenge, secret, session.host_key(), *said);
}

}  // namespace hostler::ssh
