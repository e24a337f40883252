#include "core/base/files.h"
#include "core/crypto/random.h"
#include "core/ssh/challenge.h"
#include "core/ssh/init_script.h"
#include "core/ssh/rotation.h"
#include "core/ssh/verify.h"
#include "tests/integration/ssh/loop.h"

namespace hostler::test {
namespace {

using ssh::Session;

/// An sshd whose host has run its init script.
class Host : public Sshd {
 public:
  Host() : Host(Options()) {}
  explicit Host(const Options& options) : Sshd(options) {
    (void)write_file(dir() / "init", ssh::make_init_script({secret, "", "", ""}), 0600);
    shell("HOSTLER_AGENT_DIR=" + (dir() / "agent").string() + " sh " + (dir() / "init").string());
  }
  std::string secret = crypto::random_hex(32);
};

Result<void> challenge(Loop& loop, const Sshd& sshd, const std::string& secret) {
  const auto session = login(loop, sshd);
  return loop.get(ssh::prove(*session, "h-7", secret));
}

bool login_shell_is_bash() {
  return shell("getent passwd $(id -u) | grep -c ':/bin/bash$'") == "1";
}

TEST(VerificationTest, ProvesAHostByItsSecret) {
  const Host host;
  Loop loop;
  const auto proved = challenge(loop, host, host.secret);
  EXPECT_TRUE(proved) << proved.error().message;
}

TEST(VerificationTest, RefusesAHostWithAnotherSecret) {
  const Host host;
  Loop loop;
  const auto proved = challenge(loop, host, crypto::random_hex(32));
  ASSERT_FALSE(proved);
  EXPECT_NE(proved.error().message.find("wrong proof"), std::string::npos);
}

TEST(VerificationTest, RefusesAMachineInBetweenThatRelaysToTheRealHost) {
  const Host real;
  Sshd::Options options;
  options.lines =
      "ForceCommand exec ssh -q -F none -o BatchMode=yes -o StrictHostKeyChecking=no "
      "-o UserKnownHostsFile=/dev/null -i " +
      (real.dir() / "user").string() + " -p " + std::to_string(real.port()) +
      " 127.0.0.1 \"$SSH_ORIGINAL_COMMAND\"";
  const Sshd impostor(options);
  Loop loop;
  const auto session = login(loop, impostor);
  // It does relay: its answers come from the real host.
  const auto relayed = loop.get(session->exec(command("echo $HOSTLER_HOST_KEY")));
  ASSERT_TRUE(relayed);
  ASSERT_EQ(relayed->output, real.host_key_file().string() + "\n");

  const auto proved = loop.get(ssh::prove(*session, "h-7", real.secret));

  ASSERT_FALSE(proved);
  EXPECT_NE(proved.error().message.find("wrong proof"), std::string::npos)
      << proved.error().message;
}

TEST(VerificationTest, ProvesAHostWithANoisyLoginShell) {
  if (!login_shell_is_bash()) GTEST_SKIP() << "the login shell is not bash";
  Sshd::Options options;
  options.bashrc =
      "echo Welcome to this host; printf 'no newline'; head -c 30000 /dev/urandom\n"
      "echo on stderr too >&2\nset -u\nfalse\n";
  const Host host(options);
  Loop loop;
  const auto proved = challenge(loop, host, host.secret);
  EXPECT_TRUE(proved) << proved.error().message;
}

TEST(VerificationTest, NamesTheStartUpFileThatExecs) {
  if (!login_shell_is_bash()) GTEST_SKIP() << "the login shell is not bash";
  Sshd::Options options;
  options.bashrc = "exec echo this is fish now\n";
  const Host host(options);
  Loop loop;
  const auto proved = challenge(loop, host, host.secret);
  ASSERT_FALSE(proved);
  EXPECT_NE(proved.error().message.find("~/.bashrc"), std::string::npos);
  EXPECT_NE(proved.error().message.find("this is fish now"), std::string::npos);
}

TEST(VerificationTest, NamesTheForeignForceCommand) {
  Sshd::Options options;
  options.lines = "ForceCommand echo backups only";
  const Host host(options);
  Loop loop;
  const auto proved = challenge(loop, host, host.secret);
  ASSERT_FALSE(proved);
  EXPECT_NE(proved.error().message.find("ForceCommand"), std::string::npos);
  EXPECT_NE(proved.error().message.find("backups only"), std::string::npos);
}

TEST(RotationTest, PutsANewKeyAndSecretInPlace) {
  const Host host;
  Loop loop;
  const auto session = login(loop, host);
  const std::string before = host.host_key();

  const auto next = loop.get(ssh::prepare_rotation(*session, "", {host.secret, ""}));
  ASSERT_TRUE(next) << next.error().message;
  ASSERT_FALSE(next->none) << next->why;
  EXPECT_EQ(host.host_key(), before);
  const auto done = loop.get(ssh::activate_rotation(*session, "", next->public_key));
  ASSERT_TRUE(done) << done.error().message;

  EXPECT_EQ(host.host_key(), next->public_key);
  EXPECT_EQ(*read_file(host.dir() / "agent/secret", 1000), next->secret + "\n");
  EXPECT_TRUE(loop.get(session->exec(command("true"))));
  // Until it has reloaded, the listener shows the old key or refuses connections.
  Result<std::unique_ptr<Session>> again = fail(Errc::kUnavailable, "");
  const auto shows_next = [&] { return again && (*again)->host_key().line() == next->public_key; };
  for (int i = 0; i < 1000 && !shows_next(); ++i)
    again = loop.get(Session::connect(connect_to(host)));
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->host_key().line(), next->public_key);
  const auto proved = challenge(loop, host, next->secret);
  EXPECT_TRUE(proved) << proved.error().message;
}

/// What prepare_rotation() leaves beside the key.
bool has_next_key(const Sshd& sshd) {
  return std::filesystem::exists(sshd.host_key_file().string() + ".next");
}

TEST(RotationTest, WritesNothingOnAMachineThatTheCreateDidNotMark) {
  const Host host;
  Loop loop;
  const auto session = login(loop, host);

  const auto other = loop.get(ssh::prepare_rotation(*session, "", {crypto::random_hex(32), ""}));
  const auto no_marker = loop.get(ssh::prepare_rotation(*session, "", {"", ""}));
  shell("rm " + (host.dir() / "agent/secret").string());
  const auto no_secret = loop.get(ssh::prepare_rotation(*session, "", {host.secret, ""}));

  for (const auto& next : {other, no_marker, no_secret}) {
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_TRUE(next->unmarked);
  }
  EXPECT_NE(other->why.find("is not of this instance"), std::string::npos) << other->why;
  EXPECT_NE(no_secret->why.find("there is no secret in"), std::string::npos) << no_secret->why;
  EXPECT_FALSE(has_next_key(host));
}

TEST(RotationTest, TheDeliveredHostKeyIsAMarkerToo) {
  const Sshd host;
  Loop loop;
  const auto session = login(loop, host);
  const std::string other = crypto::make_ed25519_key("").public_key;

  const auto foreign = loop.get(ssh::prepare_rotation(*session, "", {"", other}));
  const auto ours = loop.get(ssh::prepare_rotation(*session, "", {"", host.host_key()}));

  ASSERT_TRUE(foreign && ours);
  EXPECT_TRUE(foreign->unmarked);
  EXPECT_FALSE(ours->unmarked || ours->none) << ours->why;
}

/// A program that runs its arguments as sudo does: without the variables of the session.
std::string sudo_in(const std::filesystem::path& folder) {
  const auto path = folder / "sudo";
  (void)write_file(path, "#!/bin/sh\nexec env -i PATH=\"$PATH\" \"$@\"\n", 0700);
  return path.string() + " ";
}

TEST(RotationTest, WithSudoItIsStillTheKeyOfThisSshd) {
  const Host host;
  Loop loop;
  const auto session = login(loop, host);
  const std::string sudo = sudo_in(host.dir());

  const auto next = loop.get(ssh::prepare_rotation(*session, sudo, {host.secret, ""}));
  ASSERT_TRUE(next) << next.error().message;
  ASSERT_FALSE(next->unmarked || next->none) << next->why;
  EXPECT_TRUE(has_next_key(host));
  const auto done = loop.get(ssh::activate_rotation(*session, sudo, next->public_key));
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(host.host_key(), next->public_key);
}

TEST(RotationTest, MayBeActivatedAgainWhileSshdReloads) {
  const Host host;
  Loop loop;
  const auto session = login(loop, host);
  const auto next = loop.get(ssh::prepare_rotation(*session, "", {host.secret, ""}));
  ASSERT_TRUE(next);

  // With these lines a reload takes longer than the next activation needs to find the listener.
  shell("for n in $(seq 300); do echo HostKey " + (host.dir() / "user").string() + "; done >> " +
        (host.dir() / "sshd_config").string());
  for (int n = 0; n < 5; ++n) {
    const auto done = loop.get(ssh::activate_rotation(*session, "", next->public_key));
    ASSERT_TRUE(done) << done.error().message;
  }
}

TEST(RotationTest, ActivatesOnlyTheAgreedKey) {
  const Host host;
  Loop loop;
  const auto session = login(loop, host);
  const std::string before = host.host_key();
  ASSERT_TRUE(loop.get(ssh::prepare_rotation(*session, "", {host.secret, ""})));

  const auto done =
      loop.get(ssh::activate_rotation(*session, "", crypto::make_ed25519_key("").public_key));

  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("not the key that was agreed"), std::string::npos);
  EXPECT_EQ(host.host_key(), before);
}

TEST(RotationTest, RefusesToActivateAKeyOfAnUnsupportedType) {
  const Host host;
  Loop loop;
  const auto session = login(loop, host);
  const std::string key = (host.dir() / "rsa").string();
  shell("ssh-keygen -q -t rsa -N '' -C '' -f " + key);

  const auto done = loop.get(ssh::activate_rotation(*session, "", *read_file(key + ".pub", 10000)));

  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("not supported"), std::string::npos) << done.error().message;
}

TEST(RotationTest, NeverReloadsAnSshdWhoseConfigurationIsBroken) {
  const Host host;
  Loop loop;
  const auto session = login(loop, host);
  const auto next = loop.get(ssh::prepare_rotation(*session, "", {host.secret, ""}));
  ASSERT_TRUE(next);
  shell("echo Nonsense yes >> " + (host.dir() / "sshd_config").string());

  const auto done = loop.get(ssh::activate_rotation(*session, "", next->public_key));

  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("check of the configuration fails"), std::string::npos)
      << done.error().message;
  EXPECT_EQ(::kill(host.pid(), 0), 0);
}

TEST(RotationTest, ReportsAHostKeyThatIsMissing) {
  const Host host;
  Loop loop;
  const auto session = login(loop, host);
  shell("rm " + host.host_key_file().string());

  const auto next = loop.get(ssh::prepare_rotation(*session, "", {host.secret, ""}));

  ASSERT_TRUE(next) << next.error().message;
  EXPECT_TRUE(next->none);
  EXPECT_NE(next->why.find("no host key"), std::string::npos) << next->why;
}

}  // namespace
}  // namespace hostler::test
