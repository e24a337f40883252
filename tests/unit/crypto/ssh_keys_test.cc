#include "core/crypto/ssh_keys.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace hostler::crypto {
namespace {

/// Runs a shell command in a fresh folder and returns what it printed.
class SshKeysTest : public testing::Test {
 protected:
  std::string run(const std::string& command) {
    std::string out;
    FILE* const pipe = ::popen(("cd " + folder_.path().string() + " && " + command).c_str(), "re");
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
    ::pclose(pipe);
    while (out.ends_with('\n')) out.pop_back();
    return out;
  }
  std::string file(const std::string& name) { return *read_file(folder_ / name, 100000); }

  test::TempFolder folder_;
};

TEST_F(SshKeysTest, MakesKeysThatSshKeygenReads) {
  const SshKeyPair pair = make_ed25519_key("hostler test");
  ASSERT_TRUE(write_file(folder_ / "key", pair.private_key, 0600));

  EXPECT_EQ(run("ssh-keygen -y -f key"), pair.public_key);
  EXPECT_EQ(parse_private_key(pair.private_key)->line() + " hostler test", pair.public_key);
}

TEST_F(SshKeysTest, ShowsTheFingerprintThatSshKeygenShows) {
  const SshKeyPair pair = make_ed25519_key("");
  ASSERT_TRUE(write_file(folder_ / "key.pub", pair.public_key + "\n", 0600));

  EXPECT_EQ(run("ssh-keygen -l -f key.pub | cut -d' ' -f2"),
            parse_public_key(pair.public_key)->fingerprint());
}

TEST_F(SshKeysTest, ReadsEveryUsableFormOfPrivateKey) {
  for (const char* const how :
       {"ssh-keygen -q -t ed25519 -N '' -f K", "ssh-keygen -q -t ecdsa -b 256 -N '' -f K",
        "ssh-keygen -q -t ecdsa -b 384 -m PEM -N '' -f K",
        "ssh-keygen -q -t ecdsa -b 521 -m PKCS8 -N '' -f K",
        "openssl genpkey -algorithm ed25519 -out K 2>/dev/null; touch K.pub"}) {
    run("rm -f K K.pub; " + std::string(how));
    const auto key = parse_private_key(file("K"));
    ASSERT_TRUE(key) << how << ": " << key.error().message;
    if (file("K.pub").empty()) continue;  // ssh-keygen 9.2 cannot read PKCS#8 ed25519 back
    EXPECT_EQ(key->line(), parse_public_key(file("K.pub"))->line()) << how;
  }
}

TEST_F(SshKeysTest, RefusesRsaAndSaysWhatToUse) {
  run("ssh-keygen -q -t rsa -b 2048 -N '' -f K; ssh-keygen -q -t rsa -b 2048 -m PEM -N '' -f P");

  for (const char* const name : {"K", "P"}) {
    const auto key = parse_private_key(file(name));
    ASSERT_FALSE(key);
    EXPECT_NE(key.error().message.find("ssh-keygen -t ed25519"), std::string::npos);
  }
  EXPECT_FALSE(require_usable(*parse_public_key(file("K.pub"))));
}

TEST_F(SshKeysTest, RefusesPassphrasesAndDamage) {
  run("ssh-keygen -q -t ed25519 -N secret -f K; ssh-keygen -q -t ecdsa -m PEM -N secret -f P");

  for (const char* const name : {"K", "P"})
    EXPECT_NE(parse_private_key(file(name)).error().message.find("passphrase"), std::string::npos);
  EXPECT_FALSE(parse_private_key(""));
  EXPECT_FALSE(parse_private_key(
      "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"));
  EXPECT_FALSE(parse_private_key(std::string(100000, 'a')));
}

TEST_F(SshKeysTest, RefusesPublicKeysThatDoNotHoldWhatTheySay) {
  const std::string good = parse_public_key(make_ed25519_key("").public_key)->line();

  EXPECT_TRUE(parse_public_key(good + " some comment\n"));
  EXPECT_FALSE(parse_public_key("ecdsa-sha2-nistp256" + good.substr(good.find(' '))));
  EXPECT_FALSE(parse_public_key("ssh-ed25519"));
  EXPECT_FALSE(parse_public_key("ssh-ed25519 AAAA"));
  EXPECT_FALSE(parse_public_key(""));
}

}  // namespace
}  // namespace hostler::crypto
