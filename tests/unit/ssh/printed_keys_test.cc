#include "core/ssh/printed_keys.h"

#include <gmock/gmock.h>

/// Host keys on the console of a machine.
namespace hostler::ssh {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

crypto::SshPublicKey make_key() {
  return *crypto::parse_public_key(crypto::make_ed25519_key("root@host").public_key);
}

class PrintedKeysTest : public testing::Test {
 protected:
  [[nodiscard]] std::string keys(const crypto::SshPublicKey& key) const {
    return "-----BEGIN SSH HOST KEY KEYS-----\n" + other_type_ + "\n" + key.line() +
           " root@host\n-----END SSH HOST KEY KEYS-----\n";
  }
  [[nodiscard]] static std::string fingerprints(const crypto::SshPublicKey& key,
                                                const std::string& prefix) {
    return prefix + "#############################################################\n" + prefix +
           "-----BEGIN SSH HOST KEY FINGERPRINTS-----\n" + prefix +
           "256 SHA256:j6A+Fjh5c9dtSySgjHJ0K8NUAL1v7Z6S/TwEtVFJHdg root@host (ECDSA)\n" + prefix +
           "256 " + key.fingerprint() + " root@host (ED25519)\n" + prefix +
           "-----END SSH HOST KEY FINGERPRINTS-----\n";
  }
  Printed judge(const std::string& console) const {
    return judge_printed(find_printed_keys(console), key_);
  }
  static std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), with);
  }

  const crypto::SshPublicKey key_ = make_key(), other_ = make_key();
  const std::string other_type_ = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7 root@host";
};

TEST_F(PrintedKeysTest, AKeyInABlockIsFoundAsItselfAndByItsFingerprint) {
  EXPECT_EQ(judge("booting\n" + keys(key_) + "login: "), Printed::kThisKey);
  EXPECT_EQ(judge(keys(other_)), Printed::kAnother);
  for (const auto* prefix :
       {"", "ec2: ", "ci-info: ", "cloud-init[812]: ", "<14>Feb 18 12:42:13 cloud-init: ",
        "[   22.659663] cloud-init[1101]: ", "Aug  8 07:10:44 host-1 ec2: ", "[22.6] "}) {
    EXPECT_EQ(judge(fingerprints(key_, prefix)), Printed::kThisKey) << prefix;
    EXPECT_EQ(judge(fingerprints(other_, prefix)), Printed::kAnother) << prefix;
  }
}

TEST_F(PrintedKeysTest, ABlockThatIsNotCompleteSaysNothing) {
  const std::string whole = keys(key_);
  const std::string last = "-----END SSH HOST KEY KEYS-----\n";
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(judge(whole.substr(0, size)), Printed::kNothing) << "cut at " << size;
  EXPECT_EQ(judge(whole.substr(10)), Printed::kNothing) << "its begin was cut off";
  EXPECT_EQ(judge(replaced(whole, last, "-----END SSH HOST KEY FINGERPRINTS-----\n")),
            Printed::kNothing);
  EXPECT_EQ(judge(key_.line() + "\n"), Printed::kNothing) << "no block";
  EXPECT_EQ(judge(replaced(whole, last, keys(other_))), Printed::kAnother) << "begun again";
}

TEST_F(PrintedKeysTest, MessagesOfTheKernelBetweenAndInsideLinesDoNotMakeKeys) {
  const std::string line = key_.line(), noise = "[   12.3] usb 1-1: new device\n";
  std::string mixed = replaced(keys(key_), line, noise + "[   12.4] " + line);
  EXPECT_EQ(judge(mixed), Printed::kThisKey);
  mixed = replaced(keys(key_), line, line.substr(0, 30) + noise + line.substr(30));
  EXPECT_EQ(judge(mixed), Printed::kNothing) << "a broken key is none, and no other one";
  EXPECT_EQ(judge(mixed + fingerprints(key_, "")), Printed::kThisKey)
      << "but the next block has it";
  EXPECT_EQ(judge(replaced(keys(key_), line, line.substr(0, line.size() - 4))), Printed::kNothing);
}

TEST_F(PrintedKeysTest, EndsOfLinesAndOtherControlCharactersDoNotMatter) {
  std::string crlf;
  for (const char c : keys(key_)) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(judge(crlf), Printed::kThisKey);
  EXPECT_EQ(judge(std::string("\0\x1b[2J\xff\n", 7) + keys(key_)), Printed::kThisKey);
  EXPECT_EQ(judge(replaced(keys(key_), "-----END", "\x1b[1m-----END")), Printed::kNothing);
}

// Log lines on a console quote strangers: the user name of a login that failed, for one.
TEST_F(PrintedKeysTest, ALineThatQuotesAStrangerIsNoneOfCloudInit) {
  std::string forged;
  for (const std::string& line : {std::string("-----BEGIN SSH HOST KEY KEYS-----"), key_.line(),
                                  std::string("-----END SSH HOST KEY KEYS-----")})
    for (const std::string& name : {line, "cloud-init: " + line})
      forged += "Nov 24 12:00:00 host sshd[77]: Invalid user " + name + " from 192.0.2.1 port 7\n" +
                "Nov 24 12:00:00 host sshd[77]: " + name + "\n" + "sshd: " + name + "\n";
  EXPECT_THAT(find_printed_keys(forged), IsEmpty());
}

// A reboot prints them again. Later blocks may come from somebody who has got into the machine.
TEST_F(PrintedKeysTest, TheFirstBlockWithAKeyOfItsKindDecides) {
  EXPECT_EQ(judge(keys(key_) + keys(other_)), Printed::kThisKey);
  EXPECT_EQ(judge(keys(other_) + keys(key_)), Printed::kAnother);
  EXPECT_EQ(judge("-----BEGIN SSH HOST KEY KEYS-----\n" + other_type_ +
                  "\n-----END SSH HOST KEY KEYS-----\n" + keys(key_)),
            Printed::kThisKey);
}

TEST_F(PrintedKeysTest, AHugeConsoleGivesAFewBlocks) {
  std::string huge = std::string(100'000, 'x') + "\n";
  for (int n = 0; n < 1000; ++n) huge += keys(other_);
  EXPECT_THAT(find_printed_keys(huge), SizeIs(16));
  std::string long_block = "-----BEGIN SSH HOST KEY KEYS-----\n";
  for (int n = 0; n < 1000; ++n) long_block += other_.line() + "\n";
  const auto blocks = find_printed_keys(long_block + "-----END SSH HOST KEY KEYS-----\n");
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_THAT(blocks[0], SizeIs(32));
}

}  // namespace
}  // namespace hostler::ssh
