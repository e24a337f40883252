#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "tests/integration/hosts/fake_daemon.h"

/// Hosts whose init command has not ended, or has failed.
namespace hostler::test {
namespace {

/// Writes what the init script of a host writes.
void set_init(const BootedHost& host, const std::string& status, const std::string& output) {
  ASSERT_TRUE(write_file(host.dir() / "agent/init.output", output, 0600));
  ASSERT_TRUE(write_file(host.dir() / "agent/init.status", status + "\n", 0644));
}

TEST(InitTest, WaitsForTheInitCommandAndSaysWhatItPrintedLast) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.init_command = "something";
  const std::string self = test::shell("cut -d' ' -f22 /proc/$PPID/stat");
  set_init(host,
           "running " + std::to_string(getpid()) + " " + self + " " +
               test::shell("cat /proc/sys/kernel/random/boot_id"),
           "fetching\n");
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});
  const auto not_yet = daemon.await<model::HostNotYet>();
  set_init(host, "ended 0", "");

  EXPECT_EQ(not_yet.step, "init");
  EXPECT_NE(not_yet.text.find("fetching"), std::string::npos) << not_yet.text;
  daemon.await<model::HostReady>();
}

TEST(InitTest, ReportsAFailedInitCommandAndStaysAway) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.init_command = "something";
  set_init(host, "ended 3", "fetching\nno route to host\n");
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});
  const auto failed = daemon.await<model::HostInitFailed>();

  EXPECT_EQ(failed.ending, "status 3");
  EXPECT_EQ(failed.output_end, "fetching no route to host");
  EXPECT_FALSE(failed.host_goes_on);
}

TEST(InitTest, GoesOnAfterAFailedInitCommandIfThePoolSaysSo) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.init_command = "something";
  daemon.pool.init_failure = model::InitFailure::kWarn;
  set_init(host, "ended 3", "");
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});
  EXPECT_TRUE(daemon.await<model::HostInitFailed>().host_goes_on);
  daemon.await<model::HostReady>();
}

/// A host that awaits its init command, as its init script leaves it.
class AwaitingHost : public BootedHost {
 public:
  AwaitingHost() {
    EXPECT_TRUE(
        write_file(dir() / "init", ssh::make_init_script({secret, "", "", "", "h-7", true}), 0600));
    shell("HOSTLER_AGENT_DIR=" + (dir() / "agent").string() + " sh " + (dir() / "init").string());
  }
  [[nodiscard]] std::string mark() const { return (dir() / "mark").string(); }
};

model::RunCommand run(std::uint64_t number, model::HostExec command) {
  return {model::InstanceId{7}, number, std::move(command)};
}

model::RunCommand answer(const model::CommandProposed& proposal, std::uint64_t number) {
  return {model::InstanceId{7}, number, proposal.command, proposal.number};
}

TEST(InitTest, AnAwaitedInitCommandIsSentWhenItsStartIsDurableAndRunsOnce) {
  const AwaitingHost host;
  FakeDaemon daemon(host);
  daemon.pool.init_command = "echo ran >> " + host.mark();
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});
  const auto proposed = daemon.await<model::CommandProposed>();
  EXPECT_TRUE(proposed.command.as_root);
  EXPECT_FALSE(std::filesystem::exists(host.mark())) << "nothing is run before";
  // A daemon that died may have sent it as well.
  for (std::uint64_t number = 1; number <= 3; ++number) daemon.send(run(number, proposed.command));
  const auto ended = daemon.await<model::CommandEnded>();
  EXPECT_EQ(ended.status, 0) << ended.error << ended.errors;
  daemon.await<model::HostReady>();
  EXPECT_EQ(shell("cat " + host.mark()), "ran");
}

TEST(InitTest, AnAwaitedInitCommandAndTheBootProbeLearnWhereTheyAre) {
  const AwaitingHost host;
  const std::string file = (host.dir() / "boot-file").string();
  FakeDaemon daemon(host);
  daemon.pool.boot_files = std::vector<model::BootFile>{{file, "from the site ", 0600, ""}};
  const std::string say =
      "echo $HOSTLER_INSTANCE $HOSTLER_POOL $HOSTLER_SET $HOSTLER_CLOUD_ID >> " + host.mark();
  daemon.pool.init_command = "cat " + file + " >> " + host.mark() + "; " + say;
  daemon.pool.boot_probe = say;
  daemon.open();

  auto target = host.target();
  target.provider_id = "i-0'7";
  daemon.send(model::ConnectHost{target});
  daemon.send(run(1, daemon.await<model::CommandProposed>().command));
  daemon.await<model::HostReady>();
  const std::string place = "h-7 " + target.pool + " " + target.set + " i-0'7";
  EXPECT_EQ(shell("cat " + host.mark()), "from the site " + place + "\n" + place);
}

TEST(InitTest, AnAwaitedInitCommandThatFailsIsAFailureAsAnyOther) {
  const AwaitingHost host;
  FakeDaemon daemon(host);
  daemon.pool.init_command = "echo 'no route to host'; exit 3";
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});
  daemon.send(run(1, daemon.await<model::CommandProposed>().command));
  const auto failed = daemon.await<model::HostInitFailed>();
  EXPECT_EQ(failed.ending, "status 3");
  EXPECT_EQ(failed.output_end, "no route to host");
}

TEST(InitTest, AnotherDaemonGoesOnWithACommandThatWasSentBefore) {
  const AwaitingHost host;
  FakeDaemon first(host);
  first.pool.init_command =
      "echo ran >> " + host.mark() + "; until [ -e " + host.mark() + ".go ]; do sleep 0.1; done";
  first.open();
  first.send(model::ConnectHost{host.target()});
  first.send(run(1, first.await<model::CommandProposed>().command));
  (void)first.await<model::CommandEnded>();
  first.close();

  FakeDaemon second(host);
  second.pool = first.pool;
  second.open();
  second.send(model::ConnectHost{host.target()});
  EXPECT_NE(second.await<model::HostNotYet>().text.find("not ended yet"), std::string::npos);
  ASSERT_TRUE(write_file(host.mark() + ".go", "", 0600));
  second.await<model::HostReady>();
  EXPECT_EQ(shell("cat " + host.mark()), "ran");
}

TEST(InitTest, ACommandIsRefusedOnAnotherConnectionThanTheOneItWasProposedFor) {
  AwaitingHost host;
  FakeDaemon daemon(host);
  daemon.pool.init_command = "echo ran >> " + host.mark();
  daemon.open();
  daemon.send(model::ConnectHost{host.target()});
  const auto first = daemon.await<model::CommandProposed>();
  host.stop();
  daemon.await<model::HostLost>();
  host.start();
  const auto second = daemon.await<model::CommandProposed>();

  daemon.send(answer(first, 1));
  EXPECT_THAT(daemon.await<model::CommandEnded>().error, testing::HasSubstr("it came too late"));
  EXPECT_FALSE(std::filesystem::exists(host.mark()));

  daemon.send(answer(second, 2));
  daemon.await<model::HostReady>();
  EXPECT_EQ(shell("cat " + host.mark()), "ran");
}

TEST(InitTest, ProposalsThatNobodyAnswersAreMadeAgainAndCountForNothing) {
  const AwaitingHost host;
  FakeDaemon daemon(host);
  daemon.pool.init_command = "echo ran >> " + host.mark();
  daemon.settings.patience.proposal = std::chrono::milliseconds(1);
  daemon.open();
  daemon.send(model::ConnectHost{host.target()});

  const auto late = daemon.await<model::CommandProposed>();
  for (int i = 0; i < 3; ++i) (void)daemon.await<model::CommandProposed>();
  daemon.send(answer(late, 1));

  EXPECT_THAT(daemon.await<model::CommandEnded>().error, testing::HasSubstr("it came too late"));
  (void)daemon.await<model::CommandProposed>();
  EXPECT_FALSE(std::filesystem::exists(host.mark()));
}

TEST(InitTest, AnAdoptedHostGetsTheInitCommandThatItAwaits) {
  const AwaitingHost host;
  FakeDaemon daemon(host);
  daemon.pool.init_command = "echo ran >> " + host.mark();
  daemon.pool.verify = {model::VerifyMethod::kDriver};
  daemon.driver_says = true;
  daemon.open();
  auto adopted = host.target(9);
  adopted.identity.challenge_secret.clear();

  daemon.send(model::ConnectHost{adopted});
  auto command = answer(daemon.await<model::CommandProposed>(), 1);
  command.instance = adopted.instance;
  daemon.send(command);

  daemon.await<model::HostReady>();
  EXPECT_EQ(shell("cat " + host.mark()), "ran");
}

TEST(InitTest, AHostOfAnOlderDaemonHasNoStateOfItsInitCommandAndGoesOn) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.init_command = "something";
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});
  daemon.await<model::HostReady>();
}

}  // namespace
}  // namespace hostler::test
