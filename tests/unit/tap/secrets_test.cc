// What is cut out of recordings.
#include "core/tap/secrets.h"

#include <gmock/gmock.h>

namespace hostler::tap {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SecretsTest, EachValueOfTheCredentialsIsCutOutOfEveryText) {
  const Secrets secrets(R"({"user": "anna", "keys": [{"secret": "open sesame"}], "pin": 98765})",
                        "{}");

  EXPECT_EQ(secrets.clean("anna said 'open sesame', twice: open sesame, 98765"),
            "*** said '***', twice: ***, ***");
}

TEST(SecretsTest, CredentialsThatAreNoJsonAreOneSecret) {
  EXPECT_EQ(Secrets("just-a-token", "").clean("bad token just-a-token"), "bad token ***");
}

TEST(SecretsTest, ASecretThatIsAPartOfAnotherLeavesNothingOfIt) {
  EXPECT_EQ(Secrets(R"(["pass", "password"])", "").clean("password"), "***");
}

TEST(SecretsTest, ValuesOfTheConfigCountIfTheirKeySaysSo) {
  const Secrets secrets("", R"({"region": "west", "proxy": {"Password": "open sesame"}})");

  EXPECT_EQ(secrets.clean("in west: open sesame"), "in west: ***");
}

TEST(SecretsTest, LongWordsOfSentencesAreCutOutAsTheyMayBeKeys) {
  const std::string key = "bG9uZyB3b3JkcyBtYXkgYmUga2V5cyBvciB0b2tlbnM=";

  EXPECT_EQ(Secrets().clean_sentence("user data '" + key + "' is bad"), "user data '***' is bad");
  EXPECT_EQ(Secrets().clean_sentence("no i-0123456789abcdef0 there"),
            "no i-0123456789abcdef0 there");
}

TEST(SecretsTest, TextsAreOneLineOfALimitedLength) {
  const std::string text = Secrets().clean("a\nb" + std::string(10'000, ' '));

  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_LE(text.size(), 310U);
}

TEST(SecretsTest, OfAConfigOnlyTheKeysAreLeft) {
  EXPECT_EQ(keys_only(R"({"root": "/srv", "n": 7, "list": [{"token": true}], "empty": {}})"),
            R"({"root":"***","n":"***","list":[{"token":"***"}],"empty":{}})");
  EXPECT_EQ(keys_only("nonsense"), "{}");
}

TEST(SecretsTest, FingerprintsTellTextsApartAndDoNotTellThem) {
  EXPECT_EQ(fingerprint("a key"), fingerprint("a key"));
  EXPECT_NE(fingerprint("a key"), fingerprint("another"));
  EXPECT_THAT(fingerprint("a key"), Not(HasSubstr("a key")));
}

}  // namespace
}  // namespace hostler::tap
