#include "core/hosts/proof.h"

#include <utility>

#include "core/async/await_callback.h"
#include "core/base/assert.h"
#include "core/ssh/challenge.h"

namespace hostler::hosts {

namespace asio = boost::asio;

asio::awaitable<Result<void>> HostProof::prove(ssh::Session& session) {
  const std::string key = session.host_key().line();
  std::string judged_key = key;
  auto judgement = co_await judge(std::move(judged_key));
  if (judgement.verdict == ssh::Verdict::kAlarm) {
    report_alarm(key, judgement.why);
    co_return fail(Errc::kMisbehaving, judgement.why);
  }
  if (judgement.verdict == ssh::Verdict::kNotYet) {
    host_.ports->count_verification(std::nullopt, false);
    host_.report_not_yet("verify", judgement.why);
    co_return fail(Errc::kUnavailable, judgement.why);
  }
  const auto logged_in = co_await log_in(session);
  if (!logged_in) co_return logged_in;
  if (judgement.verdict == ssh::Verdict::kChallenge) {
    const auto proved = co_await challenge(session);
    if (!proved) co_return proved;
    judgement.method = model::VerifyMethod::kChallenge;
  }
  accept(judgement, key);
  host_.ports->count_verification(judgement.method, false);
  host_.report(model::HostVerified{judgement.method, key});
  co_return Result<void>();
}

bool HostProof::accept_rotated(const std::string& shown, const std::string& next) {
  const auto judgement = ssh::judge(host_.target.identity, host_.pool.verify, shown, std::nullopt);
  if (judgement.verdict != ssh::Verdict::kAccept || shown != next) return false;
  accept(judgement, shown);
  return true;
}

/// Never returns kAskDriver: the driver was asked.
asio::awaitable<ssh::Judgement> HostProof::judge(std::string key) {
  auto judgement = ssh::judge(host_.target.identity, host_.pool.verify, key, std::nullopt);
  if (judgement.verdict != ssh::Verdict::kAskDriver) co_return judgement;
  auto ask = [this, key](auto give) {
    host_.ports->ask_driver(host_.target, key, std::move(give));
  };
  const auto answer = co_await async::await_callback<Result<bool>>(std::move(ask));
  // A driver that cannot answer does not vouch for the key.
  const bool vouched = answer.has_value() && *answer;
  judgement = ssh::judge(host_.target.identity, host_.pool.verify, key, vouched);
  if (judgement.verdict == ssh::Verdict::kNotYet && !answer)
    judgement.why += " (the driver: " + answer.error().message + ")";
  HOSTLER_ASSERT(judgement.verdict != ssh::Verdict::kAskDriver,
                 "a key is judged without the driver once the driver has answered");
  co_return judgement;
}

asio::awaitable<Result<void>> HostProof::log_in(ssh::Session& session) {
  ssh::Credentials credentials;
  credentials.user = host_.target.user;
  credentials.private_keys = host_.set().private_keys;
  const auto logged_in = co_await session.authenticate(std::move(credentials));
  if (!logged_in) host_.report_not_yet("auth", logged_in.error().message);
  co_return logged_in;
}

asio::awaitable<Result<void>> HostProof::challenge(ssh::Session& session) {
  std::string instance = host_.target.instance.text();
  std::string secret = host_.target.identity.challenge_secret;
  const auto proved = co_await ssh::prove(session, std::move(instance), std::move(secret));
  if (!proved) {
    host_.ports->count_verification(std::nullopt, false);
    host_.report_not_yet("verify", proved.error().message);
  }
  co_return proved;
}

void HostProof::report_alarm(const std::string& key, const std::string& why) {
  host_.ports->count_verification(std::nullopt, true);
  if (std::exchange(alarming_key_, key) == key)
    host_.report_not_yet("verify", why);
  else
    host_.report(model::HostKeyAlarm{key, why});
}

void HostProof::accept(const ssh::Judgement& judgement, const std::string& key) {
  auto& identity = host_.target.identity;
  if (judgement.is_next) {
    identity.challenge_secret = identity.next_secret;
    identity.next_public_key.clear();
    identity.next_secret.clear();
    identity.rotation = model::Rotation::kDone;
  }
  identity.verified_by = judgement.method;
  identity.public_key = key;
}

}  // namespace hostler::hosts
