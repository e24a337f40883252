#include "core/ssh/challenge.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/files.h"
#include "core/crypto/random.h"
#include "core/ssh/init_script.h"
#include "tests/integration/ssh/sshd.h"
#include "tests/temp_folder.h"

namespace hostler::ssh {
namespace {

using test::shell;

/// A host without sshd: its files and the shell that runs the script. The parameter is the shell.
class ChallengeTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (shell("command -v " + std::string(GetParam()) + " | cut -d' ' -f1").empty())
      GTEST_SKIP() << GetParam() << " is not installed";
    ASSERT_TRUE(write_file(path("host_key.pub"), key_.public_key + " some comment\n", 0644));
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  void init(InitScript script) {
    ASSERT_TRUE(write_file(path("init"), make_init_script(script), 0600));
    shell(environment() + GetParam() + " " + path("init"));
  }
  [[nodiscard]] std::string environment() const {
    return "HOSTLER_HOST_KEY=" + path("host_key") + " HOSTLER_AGENT_DIR=" + path("agent") + " ";
  }
  ExecResult run(const std::string& shell_program) {
    const ExecRequest request = challenge_request(challenge_);
    EXPECT_EQ(request.command.substr(0, 2), "sh");
    EXPECT_TRUE(write_file(path("script"), request.input, 0600));
    ExecResult out;
    out.status = 0;
    out.output = shell(environment() + shell_program + request.command.substr(2) + " < " +
                       path("script") + " 2>&1") +
                 "\n";
    return out;
  }
  [[nodiscard]] Result<void> check(const ExecResult& result) const {
    return check_proof(challenge_, secret_, *crypto::parse_public_key(key_.public_key), result);
  }

  test::TempFolder folder_;
  crypto::SshKeyPair key_ = crypto::make_ed25519_key("");
  std::string secret_ = crypto::random_hex(32);
  Challenge challenge_{crypto::random_hex(16), "h-7"};
};

TEST_P(ChallengeTest, ProvesTheHostForAnySecret) {
  // Zero, newline, percent and high bytes are difficult for a shell.
  for (const std::string& secret :
       {secret_, std::string(64, '0'), std::string(64, 'f'),
        std::string("000a0d25255c5c270009202225002f7f80ff00010203040506070809abcdef00")}) {
    secret_ = secret;
    init({secret, "", "", ""});
    const auto proved = check(run(GetParam()));
    EXPECT_TRUE(proved) << proved.error().message;
  }
}

TEST_P(ChallengeTest, RefusesAnotherSecretKeyInstanceOrNonce) {
  init({secret_, "", "", ""});
  const ExecResult result = run(GetParam());
  ASSERT_TRUE(check(result));
  const auto key = *crypto::parse_public_key(key_.public_key);
  const auto other_key = *crypto::parse_public_key(crypto::make_ed25519_key("").public_key);
  Challenge other_instance = challenge_;
  other_instance.instance = "h-8";
  Challenge other_nonce = challenge_;
  other_nonce.nonce = crypto::random_hex(16);

  EXPECT_FALSE(check_proof(challenge_, crypto::random_hex(32), key, result));
  EXPECT_FALSE(check_proof(challenge_, "", key, result));
  EXPECT_FALSE(check_proof(challenge_, secret_, other_key, result));
  EXPECT_FALSE(check_proof(other_instance, secret_, key, result));
  EXPECT_FALSE(check_proof(other_nonce, secret_, key, result));
}

TEST_P(ChallengeTest, NamesWhatIsMissingOnTheHost) {
  const auto without_secret = check(run(GetParam()));
  ASSERT_FALSE(without_secret);
  EXPECT_NE(without_secret.error().message.find("there is no secret in"), std::string::npos)
      << without_secret.error().message;
}

INSTANTIATE_TEST_SUITE_P(Shells, ChallengeTest, testing::Values("dash", "bash", "busybox sh", "sh"),
                         [](const auto& shell) {
                           std::string name = shell.param;
                           std::erase(name, ' ');
                           return name;
                         });

class ProofTest : public testing::Test {
 protected:
  Challenge challenge_{"0123", "h-7"};
  std::string secret_ = std::string(64, 'a');
  crypto::SshPublicKey key_ = *crypto::parse_public_key(crypto::make_ed25519_key("").public_key);
  std::string line_ = "hostler-proof 0123 " + expected_proof(challenge_, secret_, key_);
};

TEST_F(ProofTest, IsFoundInTheOutputOfANoisyShell) {
  ExecResult result;
  result.output = "Welcome!\r\nlast login\n" + line_ + "\r\nbye\n";
  EXPECT_TRUE(check_proof(challenge_, secret_, key_, result));
}

TEST_F(ProofTest, IsOneCompleteLine) {
  ExecResult result;
  for (const std::string& output :
       {"x" + line_ + "\n", line_, line_ + "x\n", "hostler-proof 0123\n" + line_.substr(19)}) {
    result.output = output;
    EXPECT_FALSE(check_proof(challenge_, secret_, key_, result)) << output;
  }
}

TEST_F(ProofTest, NamesPossibleCausesIfItIsMissing) {
  ExecResult result;
  result.status = 0;
  result.output = "This account is only for backups\n";
  const auto proved = check_proof(challenge_, secret_, key_, result);
  ASSERT_FALSE(proved);
  EXPECT_NE(proved.error().message.find("ForceCommand"), std::string::npos);
  EXPECT_NE(proved.error().message.find("~/.bashrc"), std::string::npos);
  EXPECT_NE(proved.error().message.find("only for backups"), std::string::npos);
}

TEST(InitScriptTest, InstallsSecretAndKeyForTheirOwnerAndRunsTheSitesCommand) {
  const test::TempFolder folder;
  const std::string d = folder.path().string();
  const crypto::SshKeyPair key = crypto::make_ed25519_key("");
  const std::string secret = crypto::random_hex(32);
  ASSERT_TRUE(write_file(
      d + "/init",
      make_init_script({secret, key.private_key, key.public_key, "echo site > " + d + "/site"}),
      0600));

  shell("HOSTLER_HOST_KEY=" + d + "/key HOSTLER_AGENT_DIR=" + d + "/agent sh " + d + "/init");

  EXPECT_EQ(*read_file(d + "/agent/secret", 1000), secret + "\n");
  EXPECT_EQ(*read_file(d + "/key", 10000), key.private_key);
  EXPECT_EQ(shell("ssh-keygen -y -f " + d + "/key"), key.public_key);
  EXPECT_EQ(*read_file(d + "/site", 1000), "site\n");
  EXPECT_EQ(shell("stat -c %a " + d + "/key " + d + "/key.pub " + d + "/agent " + d +
                  "/agent/secret | tr '\\n' ' '"),
            "600 644 711 600 ");
}

TEST(InitScriptTest, DoesNothingWhenItIsCutOff) {
  const test::TempFolder folder;
  const std::string d = folder.path().string();
  const std::string whole = make_init_script({crypto::random_hex(32), "", "", ""});
  for (std::size_t size = 0; size + 40 < whole.size(); size += 7) {
    ASSERT_TRUE(write_file(d + "/init", whole.substr(0, size), 0600));
    shell("HOSTLER_AGENT_DIR=" + d + "/agent sh " + d + "/init 2>/dev/null");
    EXPECT_FALSE(std::filesystem::exists(d + "/agent/secret")) << size;
  }
}

TEST(InitScriptTest, FailsWhenTheSecretCannotBeWritten) {
  const test::TempFolder folder;
  const std::string d = folder.path().string();
  ASSERT_TRUE(write_file(d + "/file", "", 0600));
  ASSERT_TRUE(write_file(d + "/init", make_init_script({"aa", "", "", "echo went on"}), 0600));

  EXPECT_EQ(shell("HOSTLER_AGENT_DIR=" + d + "/file/agent sh " + d + "/init 2>/dev/null"), "");
}

}  // namespace
}  // namespace hostler::ssh
