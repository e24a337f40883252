#include <gmock/gmock.h>
#include <csignal>
#include <filesystem>

#include "tests/integration/hosts/fake_daemon.h"

/// Hosts that get no agent: they are proved, and the connection is kept.
namespace hostler::test {
namespace {

class AgentlessTest : public testing::Test {
 protected:
  AgentlessTest() { daemon.pool.rotate_keys = false; }
  model::HostTarget target() const {
    auto out = host.target();
    out.with_agent = false;
    return out;
  }
  void connect() {
    daemon.open();
    daemon.send(model::ConnectHost{target()});
  }

  BootedHost host;
  FakeDaemon daemon{host};
};

TEST_F(AgentlessTest, TheHostIsProvedAndTakesCommandsAndNothingIsPutThere) {
  connect();
  EXPECT_EQ(daemon.await<model::HostVerified>().public_key, host.host_key());
  EXPECT_EQ(daemon.await<model::HostBooted>().boot_id,
            shell("cat /proc/sys/kernel/random/boot_id"));
  model::HostExec command;
  command.arguments = {"echo", "hello"};
  daemon.send(model::RunCommand{target().instance, 1, command});
  EXPECT_EQ(daemon.await<model::CommandEnded>().output, "hello\n");
  const std::string agent = "hostler-agent-" + daemon.settings.agent_sha256.substr(0, 16);
  EXPECT_FALSE(std::filesystem::exists(host.dir() / "agent" / agent));
}

TEST_F(AgentlessTest, ItsInitCommandAndItsBootProbeComeFirst) {
  const auto probe = host.dir() / "probe";
  daemon.pool.init_command = "something";
  daemon.pool.boot_probe = "test -e " + probe.string();
  ASSERT_TRUE(write_file(host.dir() / "agent/init.output", "", 0600));
  ASSERT_TRUE(write_file(host.dir() / "agent/init.status", "ended 0\n", 0644));
  connect();
  EXPECT_EQ(daemon.await<model::HostNotYet>().step, "probe");
  ASSERT_TRUE(write_file(probe, "", 0600));
  daemon.await<model::HostBooted>();
}

TEST_F(AgentlessTest, ALostConnectionIsMadeAgain) {
  connect();
  daemon.await<model::HostBooted>();
  host.stop();
  EXPECT_FALSE(daemon.await<model::HostLost>().text.empty());
  host.start();
  daemon.await<model::HostVerified>();
  daemon.await<model::HostBooted>();
}

// A machine that freezes leaves its connection open.
TEST_F(AgentlessTest, AHostThatDoesNotAnswerIsLost) {
  daemon.pool.probe_timeout = std::chrono::seconds(8);
  connect();
  daemon.await<model::HostBooted>();
  signal_all(host, SIGSTOP);
  EXPECT_FALSE(daemon.await<model::HostLost>().text.empty());
  signal_all(host, SIGCONT);
}

}  // namespace
}  // namespace hostler::test
