#include "core/ssh/verify.h"

#include <algorithm>
#include <chrono>

#include "core/crypto/ssh_keys.h"

namespace hostler::ssh {
namespace {

using model::VerifyMethod;

std::string fingerprint(std::string_view line) {
  const auto key = crypto::parse_public_key(line);
  return key ? key->fingerprint() : "unreadable key";
}

/// Whether both lines hold the same key; their comments do not matter.
bool same_key(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return false;
  const auto left = crypto::parse_public_key(a);
  const auto right = crypto::parse_public_key(b);
  return left && right && *left == *right;
}

Judgement judge_known(const model::HostIdentity& identity, std::string_view shown) {
  const VerifyMethod method = *identity.verified_by;
  if (same_key(shown, identity.public_key)) return {Verdict::kAccept, method, false, {}};
  if (same_key(shown, identity.next_public_key)) return {Verdict::kAccept, method, true, {}};
  return {Verdict::kAlarm, method, false,
          "the host shows key " + fingerprint(shown) + " but was proved with key " +
              fingerprint(identity.public_key) + ": nothing was sent to it"};
}

}  // namespace

Judgement judge(const model::HostIdentity& identity, const std::vector<VerifyMethod>& accepted,
                std::string_view shown, std::optional<bool> driver_says) {
  if (identity.verified_by) return judge_known(identity, shown);
  const auto accepts = [&](VerifyMethod method) {
    return std::ranges::find(accepted, method) != accepted.end();
  };
  std::string why = "key " + fingerprint(shown) + " cannot be proved:";

  const bool delivered = accepts(VerifyMethod::kDelivered);
  if (delivered && same_key(shown, identity.delivered_public_key))
    return {Verdict::kAccept, VerifyMethod::kDelivered, false, {}};
  if (delivered)
    why += identity.delivered_public_key.empty()
               ? " no key was delivered;"
               : " it is not the delivered " + fingerprint(identity.delivered_public_key) + ";";

  if (accepts(VerifyMethod::kDriver)) {
    if (!driver_says) return {Verdict::kAskDriver, VerifyMethod::kDriver, false, {}};
    if (*driver_says) return {Verdict::kAccept, VerifyMethod::kDriver, false, {}};
    why += " the driver does not confirm it;";
  }
  if (accepts(VerifyMethod::kChallenge)) {
    if (!identity.challenge_secret.empty())
      return {Verdict::kChallenge, VerifyMethod::kChallenge, false, {}};
    why += " the host has no secret for a challenge;";
  }
  why.back() = '.';
  return {Verdict::kNotYet, {}, false, why + " The host may still be booting"};
}

std::string expected_key_type(const model::HostIdentity& identity) {
  for (const std::string* const line :
       {&identity.next_public_key, &identity.public_key, &identity.delivered_public_key})
    if (const auto key = crypto::parse_public_key(*line)) return key->type;
  return {};
}

unsigned failures_after(unsigned failures, Duration usable) {
  return usable < std::chrono::seconds(5) ? failures : 0;
}

Duration retry_pause(unsigned failures, Random& random) {
  using namespace std::chrono_literals;
  constexpr unsigned kDoublingsMax = 5;  // 0.2 s << 5 is more than 5 s
  const Duration base =
      std::min<Duration>(200ms * (1 << std::min(failures, kDoublingsMax)), Duration(5s));
  return Duration(
      static_cast<Duration::rep>(static_cast<double>(base.count()) * (0.8 + 0.4 * random.unit())));
}

}  // namespace hostler::ssh
