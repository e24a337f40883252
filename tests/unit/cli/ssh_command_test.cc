#include "core/cli/ssh_command.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace hostler::cli {
namespace {

using testing::ElementsAre;

const std::string kFile = "/run/user/known_hosts";

TEST(SshCommandTest, OnlyTheKeysThatTheDaemonHasProvedAreAccepted) {
  EXPECT_THAT(
      ssh_command({"hostler-l3", "10.0.0.7", 2222}, kFile, {"ls", "-l"}).value(),
      ElementsAre("ssh", "-o", "ControlPath=none", "-o", "UserKnownHostsFile=" + kFile, "-o",
                  "GlobalKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes", "-o",
                  "UpdateHostKeys=no", "-p", "2222", "-l", "hostler-l3", "10.0.0.7", "ls", "-l"));
}

TEST(SshCommandTest, KeysThatAreNamedAreForTheHostAlone) {
  SshTarget target{"root", "10.0.0.7"};
  target.jump_host = "bastion";
  target.identities = {"/keys/work"};
  const auto words = ssh_command(target, kFile, {}).value();
  const auto named = std::ranges::find(words, "-i");
  ASSERT_NE(named, words.end());
  EXPECT_EQ(*(named + 1), "/keys/work");
  for (const auto& word : words)
    EXPECT_FALSE(word.starts_with("ProxyCommand=") && word.find("-i ") != std::string::npos);
}

TEST(SshCommandTest, TheJumpHostIsCheckedByTheSameFile) {
  const auto words =
      ssh_command({"root", "2001:db8::7", 22, "fe80::1%eth0", 2200}, kFile, {}).value();
  EXPECT_THAT(words,
              testing::Contains("ProxyCommand=ssh -o UserKnownHostsFile=" + kFile +
                                " -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes "
                                "-o UpdateHostKeys=no -p 2200 -W [%h]:%p fe80::1%%eth0"));
  EXPECT_EQ(words.back(), "2001:db8::7");
}

TEST(SshCommandTest, NothingThatADaemonSaysIsAnOption) {
  for (const char* const bad : {"", "-oProxyCommand=touch x", "a b", "a;b", "$(a)", "[a]"}) {
    EXPECT_FALSE(ssh_command({"root", bad}, kFile, {})) << bad;
    EXPECT_FALSE(ssh_command({bad, "10.0.0.7"}, kFile, {})) << bad;
    if (*bad != '\0') {
      EXPECT_FALSE(ssh_command({"root", "10.0.0.7", 22, bad}, kFile, {})) << bad;
    }
  }
}

}  // namespace
}  // namespace hostler::cli
