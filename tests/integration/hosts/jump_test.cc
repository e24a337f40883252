#include <gmock/gmock.h>
#include <signal.h>

#include "tests/integration/hosts/fake_daemon.h"
#include "tests/integration/ssh/silent_port.h"

/// Hosts that are reached through a jump host, a real sshd.
namespace hostler::test {
namespace {

using testing::HasSubstr;

void put_behind(FakeDaemon& daemon, const Sshd& jump, const std::string& host_key = "") {
  hosts::HostSettings::Proxy proxy;
  proxy.host = jump.address();
  proxy.port = jump.port();
  proxy.name = "bastion:" + std::to_string(jump.port());
  proxy.user = Sshd::user();
  proxy.private_keys = {jump.user_key()};
  proxy.host_key = host_key.empty() ? jump.host_key() : host_key;
  daemon.settings.sets["set"].proxy = proxy;
}

std::string name_of(const Sshd& jump) { return "jump host bastion:" + std::to_string(jump.port()); }

TEST(JumpHostTest, AHostBehindItIsProvedAndRunsAJob) {
  const Sshd jump;
  const BootedHost host;
  FakeDaemon daemon(host);
  put_behind(daemon, jump);
  daemon.open();

  daemon.connect(host.target());
  daemon.start("echo hello");

  EXPECT_EQ(daemon.await<model::AttemptExited>().end.stdout_inline, "hello\n");
  EXPECT_NE(shell("pgrep -P " + std::to_string(jump.pid())), "");
}

TEST(JumpHostTest, GetsNothingIfItShowsAnotherKeyThanTheConfiguredOne) {
  const Sshd jump;
  const BootedHost host;
  FakeDaemon daemon(host);
  put_behind(daemon, jump, crypto::make_ed25519_key("").public_key);
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});
  const auto not_yet = daemon.await<model::HostNotYet>();

  EXPECT_EQ(not_yet.step, "connect");
  EXPECT_THAT(not_yet.text, HasSubstr("through " + name_of(jump) + ": 127.0.0.1:" +
                                      std::to_string(jump.port()) + " shows the host key SHA256"));
  EXPECT_THAT(not_yet.text, HasSubstr("nothing was sent to it"));
}

TEST(JumpHostTest, ThatForbidsForwardingIsNamedWithItsAnswer) {
  Sshd::Options options;
  options.lines = "AllowTcpForwarding no";
  const Sshd jump(options);
  const BootedHost host;
  FakeDaemon daemon(host);
  put_behind(daemon, jump);
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});

  EXPECT_THAT(daemon.await<model::HostNotYet>().text,
              HasSubstr("through " + name_of(jump) +
                        ": connection to 127.0.0.1:" + std::to_string(host.port()) +
                        " refused by it (administratively prohibited)"));
}

TEST(JumpHostTest, IsNamedWhenItEndsAndItsHostsAreBackWithIt) {
  Sshd jump;
  const BootedHost host;
  FakeDaemon daemon(host);
  put_behind(daemon, jump);
  daemon.open();
  daemon.connect(host.target());
  const std::string go = (host.dir() / "go").string();
  const auto attempt = daemon.start("until [ -e " + go + " ]; do sleep 0.05; done; echo done");
  daemon.await<model::AttemptStarted>();

  jump.stop();
  EXPECT_THAT(daemon.await<model::HostLost>().text, HasSubstr(name_of(jump)));
  EXPECT_THAT(daemon.await<model::HostNotYet>().text, HasSubstr("through " + name_of(jump)));
  daemon.await_jump_host("connect to 127.0.0.1:" + std::to_string(jump.port()));
  jump.start();
  daemon.await<model::HostReady>();
  daemon.await_jump_host("");
  shell("touch " + go);

  const auto exited = daemon.await<model::AttemptExited>();
  EXPECT_EQ(exited.attempt, attempt);
  EXPECT_EQ(exited.end.stdout_inline, "done\n");
}

TEST(JumpHostTest, ThatHangsDelaysNoHostOfAnotherSet) {
  Sshd jump;
  const BootedHost behind, direct;
  FakeDaemon daemon(direct);
  put_behind(daemon, jump);
  daemon.settings.sets["set"].private_keys = {behind.user_key()};
  daemon.settings.sets["direct"].private_keys = {direct.user_key()};
  daemon.open();
  signal_all(jump, SIGSTOP);
  daemon.send(model::ConnectHost{behind.target(7)});
  model::HostTarget other = direct.target(8);
  other.set = "direct";

  daemon.connect(other);

  signal_all(jump, SIGCONT);
  EXPECT_FALSE(daemon.await<model::HostReady>().boot_id.empty());
}

// One session opens one connection at a time.
TEST(JumpHostTest, ReachesAHostWhileOthersDoNotAnswer) {
  const Sshd jump;
  const BootedHost host;
  const SilentPort silent;
  FakeDaemon daemon(host);
  put_behind(daemon, jump);
  daemon.open();
  model::HostTarget target = host.target();
  target.port = silent.port();
  for (std::uint64_t id = 100; id < 105; ++id) {
    target.instance = model::InstanceId{id};
    daemon.send(model::ConnectHost{target});
  }

  daemon.connect(host.target());
  daemon.start("echo hello");
  EXPECT_EQ(daemon.await<model::AttemptExited>().end.stdout_inline, "hello\n");
}

TEST(JumpHostTest, ThatConnectsUsToAnotherMachineGetsNoWorkThere) {
  const Sshd jump;
  const BootedHost real;
  Sshd::Options options;
  options.lines =
      "ForceCommand cat > $HOME/input; echo \"$SSH_ORIGINAL_COMMAND\" >> $HOME/commands";
  const Sshd other(options);
  FakeDaemon daemon(other);
  put_behind(daemon, jump);
  daemon.open();
  model::HostTarget target = real.target();
  target.port = other.port();

  daemon.send(model::ConnectHost{target});
  const auto not_yet = daemon.await<model::HostNotYet>();

  EXPECT_EQ(not_yet.step, "verify");
  EXPECT_THAT(not_yet.text, HasSubstr(name_of(jump)));
}

TEST(JumpHostTest, ThatConnectsUsToAnotherMachineThanBeforeIsAnAlarm) {
  const Sshd jump;
  const BootedHost host;
  FakeDaemon daemon(host);
  put_behind(daemon, jump);
  daemon.open();
  model::HostTarget target = host.target();
  target.identity.verified_by = model::VerifyMethod::kChallenge;
  target.identity.public_key = crypto::make_ed25519_key("").public_key;

  daemon.send(model::ConnectHost{target});

  EXPECT_THAT(daemon.await<model::HostKeyAlarm>().text, HasSubstr(name_of(jump)));
}

}  // namespace
}  // namespace hostler::test
