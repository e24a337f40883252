#include "core/ssh/verify.h"

#include <gtest/gtest.h>

#include "core/crypto/ssh_keys.h"

namespace hostler::ssh {
namespace {

using model::VerifyMethod;
using namespace std::chrono_literals;

const std::vector<VerifyMethod> kAll{VerifyMethod::kDriver, VerifyMethod::kDelivered,
                                     VerifyMethod::kChallenge};

std::string new_key() { return crypto::make_ed25519_key("comment").public_key; }

TEST(JudgeTest, AcceptsTheDeliveredKeyAndNoOther) {
  model::HostIdentity identity;
  identity.delivered_public_key = new_key();
  const std::vector<VerifyMethod> only{VerifyMethod::kDelivered};

  const Judgement right = judge(identity, only, identity.delivered_public_key, {});
  const Judgement wrong = judge(identity, only, new_key(), {});

  EXPECT_EQ(right.verdict, Verdict::kAccept);
  EXPECT_EQ(right.method, VerifyMethod::kDelivered);
  EXPECT_EQ(wrong.verdict, Verdict::kNotYet);
  EXPECT_NE(wrong.why.find("not the delivered SHA256:"), std::string::npos) << wrong.why;
}

TEST(JudgeTest, IgnoresTheDeliveredKeyIfThePoolDoesNotAcceptThisMethod) {
  model::HostIdentity identity;
  identity.delivered_public_key = new_key();

  EXPECT_EQ(judge(identity, {VerifyMethod::kChallenge}, identity.delivered_public_key, {}).verdict,
            Verdict::kNotYet);
}

TEST(JudgeTest, NeverTrustsAKeyOnFirstUse) {
  EXPECT_EQ(judge({}, {}, new_key(), {}).verdict, Verdict::kNotYet);
  EXPECT_EQ(judge({}, kAll, new_key(), false).verdict, Verdict::kNotYet);
  // A missing delivered key does not match a key that cannot be parsed.
  EXPECT_EQ(judge({}, kAll, "", false).verdict, Verdict::kNotYet);
}

TEST(JudgeTest, AsksTheDriverBeforeAChallenge) {
  model::HostIdentity identity;
  identity.challenge_secret = std::string(64, 'a');
  const std::string key = new_key();

  EXPECT_EQ(judge(identity, kAll, key, {}).verdict, Verdict::kAskDriver);
  EXPECT_EQ(judge(identity, kAll, key, false).verdict, Verdict::kChallenge);
  const Judgement confirmed = judge(identity, kAll, key, true);
  EXPECT_EQ(confirmed.verdict, Verdict::kAccept);
  EXPECT_EQ(confirmed.method, VerifyMethod::kDriver);
}

TEST(JudgeTest, ChallengesOnlyAHostThatHasASecret) {
  model::HostIdentity identity;
  EXPECT_EQ(judge(identity, {VerifyMethod::kChallenge}, new_key(), {}).verdict, Verdict::kNotYet);
  identity.challenge_secret = std::string(64, 'a');
  EXPECT_EQ(judge(identity, {VerifyMethod::kChallenge}, new_key(), {}).verdict,
            Verdict::kChallenge);
}

TEST(JudgeTest, RaisesTheAlarmIfAProvedHostShowsAnotherKey) {
  model::HostIdentity identity;
  identity.verified_by = VerifyMethod::kChallenge;
  identity.public_key = new_key();
  identity.challenge_secret = std::string(64, 'a');
  identity.delivered_public_key = new_key();

  EXPECT_EQ(judge(identity, kAll, identity.public_key, {}).verdict, Verdict::kAccept);
  EXPECT_EQ(judge(identity, kAll, new_key(), {}).verdict, Verdict::kAlarm);
  EXPECT_EQ(judge(identity, kAll, new_key(), true).verdict, Verdict::kAlarm);
  EXPECT_EQ(judge(identity, kAll, identity.delivered_public_key, {}).verdict, Verdict::kAlarm);
}

TEST(JudgeTest, AcceptsOldAndNextKeyDuringARotation) {
  model::HostIdentity identity;
  identity.verified_by = VerifyMethod::kDelivered;
  identity.public_key = new_key();
  identity.next_public_key = new_key();

  const Judgement old = judge(identity, {}, identity.public_key, {});
  const Judgement next = judge(identity, {}, identity.next_public_key, {});

  EXPECT_EQ(old.verdict, Verdict::kAccept);
  EXPECT_FALSE(old.is_next);
  EXPECT_EQ(next.verdict, Verdict::kAccept);
  EXPECT_TRUE(next.is_next);
  EXPECT_EQ(next.method, VerifyMethod::kDelivered);
  EXPECT_EQ(judge(identity, {}, new_key(), {}).verdict, Verdict::kAlarm);
}

TEST(JudgeTest, IgnoresCommentsOfKeys) {
  model::HostIdentity identity;
  identity.delivered_public_key = new_key();
  const std::string shown = crypto::parse_public_key(identity.delivered_public_key)->line();

  EXPECT_EQ(judge(identity, kAll, shown, {}).verdict, Verdict::kAccept);
}

TEST(RetryTest, DoublesFromAFifthOfASecondToFiveWithJitter) {
  Random random(1);
  const std::vector<Duration> bases{200ms, 400ms, 800ms, 1600ms, 3200ms, 5s, 5s};
  for (unsigned i = 0; i < bases.size(); ++i) {
    for (int n = 0; n < 100; ++n) {
      const Duration pause = retry_pause(i, random);
      EXPECT_GE(pause, bases[i] * 8 / 10);
      EXPECT_LE(pause, bases[i] * 12 / 10);
    }
  }
  EXPECT_LE(retry_pause(1'000'000, random), 6s);
}

// Once a bug: a host that was ready and disconnected was retried every 0.2 s for ever.
TEST(RetryTest, AShortConnectionCountsAsAFailure) {
  EXPECT_EQ(failures_after(3, 0s), 3U);
  EXPECT_EQ(failures_after(3, 4999ms), 3U);
  EXPECT_EQ(failures_after(3, 5s), 0U);
}

}  // namespace
}  // namespace hostler::ssh
