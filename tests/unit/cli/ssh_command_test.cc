#include "core/cli/ssh_command.h"

#include <gmock/gmock.h>
#include <stdio.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

namespace hostler::cli {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

const std::string kFile = "/run/user/known_hosts";

/// With which ssh lets in no other key. The first value of an option counts.
const std::vector<std::string> kKeyOptions{"UserKnownHostsFile=" + kFile,
                                           "GlobalKnownHostsFile=/dev/null",
                                           "KnownHostsCommand=none",
                                           "StrictHostKeyChecking=yes",
                                           "VerifyHostKeyDNS=no",
                                           "NoHostAuthenticationForLocalhost=no",
                                           "UpdateHostKeys=no",
                                           "CanonicalizeHostname=no",
                                           "ControlMaster=no",
                                           "ControlPath=none"};

std::string output_of(const std::string& command) {
  std::string out;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  for (int c = ::fgetc(pipe); c != EOF; c = ::fgetc(pipe)) out += static_cast<char>(c);
  return out + "status " + std::to_string(::pclose(pipe));
}

TEST(SshCommandTest, OnlyTheKeysThatTheDaemonHasProvedAreAccepted) {
  const auto words = ssh_command({"hostler-l3", "10.0.0.7", 2222}, kFile, {"ls", "-l"}).value();
  EXPECT_THAT(words, IsSupersetOf(kKeyOptions));
  const std::vector<std::string> last{"-p", "2222", "-l", "hostler-l3", "10.0.0.7", "ls", "-l"};
  EXPECT_EQ(std::vector<std::string>(words.end() - 7, words.end()), last);
}

/// The options that ssh makes of the words and of a configuration of the user.
std::string read_by_ssh(std::vector<std::string> words, const std::string& configuration) {
  words.insert(words.begin() + 1, {"-G", "-F", configuration});
  std::string command;
  for (const auto& word : words) command += "'" + word + "' ";
  return output_of(command + "2>&1");
}

TEST(SshCommandTest, NoOptionOfTheUserLetsAnotherKeyIn) {
  if (output_of("ssh -V 2>&1").find("OpenSSH") == std::string::npos)
    GTEST_SKIP() << "OpenSSH is not installed";
  const test::TempFolder folder;
  const std::string options = folder.put(
      "config",
      "IgnoreUnknown OfAnotherSystem,KnownHostsCommand\nHost *\nOfAnotherSystem yes\n"
      "UserKnownHostsFile /other\nGlobalKnownHostsFile /other\nStrictHostKeyChecking no\n"
      "VerifyHostKeyDNS yes\nKnownHostsCommand /other %H\nNoHostAuthenticationForLocalhost yes\n"
      "UpdateHostKeys yes\nCanonicalizeHostname always\nControlMaster auto\nControlPath /other\n");
  const auto words = ssh_command({"root", "10.0.0.7"}, kFile, {}).value();
  const std::string plain = read_by_ssh(words, "/dev/null");
  EXPECT_THAT(plain, HasSubstr("userknownhostsfile " + kFile + "\n"));
  EXPECT_EQ(read_by_ssh(words, options), plain);
  EXPECT_THAT(read_by_ssh({"ssh", "10.0.0.7"}, options), HasSubstr("userknownhostsfile /other\n"));
}

// Bug: root on the host could use the agent of whoever logged in there.
TEST(SshCommandTest, NoOptionOfTheUserForwardsAnythingToTheHost) {
  const auto words = ssh_command({"root", "10.0.0.7"}, kFile, {}).value();
  EXPECT_THAT(words, IsSupersetOf({"ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes"}));
  if (output_of("ssh -V 2>&1").find("OpenSSH") == std::string::npos)
    GTEST_SKIP() << "OpenSSH is not installed";
  const test::TempFolder folder;
  const std::string options =
      folder.put("config",
                 "Host *\nForwardAgent yes\nForwardX11 yes\nLocalForward 8080 localhost:80\n"
                 "RemoteForward 8081 localhost:80\nDynamicForward 1080\nClearAllForwardings no\n");
  EXPECT_EQ(read_by_ssh(words, options), read_by_ssh(words, "/dev/null"));
  EXPECT_THAT(read_by_ssh({"ssh", "10.0.0.7"}, options), HasSubstr("forwardagent yes\n"));
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
  const auto proxy = std::ranges::find_if(
      words, [](const std::string& word) { return word.starts_with("ProxyCommand=ssh '-o' "); });
  ASSERT_NE(proxy, words.end());
  for (const auto& option : kKeyOptions) EXPECT_THAT(*proxy, HasSubstr(" '-o' '" + option + "' "));
  EXPECT_TRUE(proxy->ends_with(" -p 2200 -W [%h]:%p fe80::1%%eth0")) << *proxy;
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
