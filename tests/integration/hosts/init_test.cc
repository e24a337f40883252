#include <gmock/gmock.h>
#include <unistd.h>

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
  EXPECT_EQ(failed.last_words, "fetching no route to host");
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
