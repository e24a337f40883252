#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/integration/hosts/fake_daemon.h"

namespace hostler::test {
namespace {

using model::VerifyMethod;

TEST(HostsTest, ProvesAHostPutsTheAgentThereAndRunsAJob) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});
  const auto verified = daemon.await<model::HostVerified>();
  EXPECT_EQ(verified.method, VerifyMethod::kChallenge);
  EXPECT_EQ(verified.public_key, host.host_key());
  const auto ready = daemon.connect(host.target());
  EXPECT_FALSE(ready.boot_id.empty());
  EXPECT_TRUE(ready.attempts.empty());

  const auto attempt = daemon.start("echo hello; echo oops >&2; exit 3");
  EXPECT_EQ(daemon.await<model::AttemptStarted>().attempt, attempt);
  const auto exited = daemon.await<model::AttemptExited>();
  EXPECT_EQ(exited.attempt, attempt);
  EXPECT_EQ(exited.end.exit_code, 3);
  EXPECT_EQ(exited.end.stdout_inline, "hello\n");
  EXPECT_EQ(exited.end.stderr_inline, "oops\n");
  EXPECT_EQ(daemon.await<model::AttemptCollected>().lost, "");
}

TEST(HostsTest, AJobHasThePrivilegesThatItsPoolAllows) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());
  const std::string script = "grep -E '^(NoNewPrivs|CapBnd)' /proc/self/status";

  daemon.start(script);
  const std::string usual = daemon.await<model::AttemptExited>().end.stdout_inline;
  daemon.pool.no_new_privs = daemon.pool.drop_capabilities = false;
  daemon.change_pool(daemon.pool);
  daemon.start(script);
  const std::string allowed = daemon.await<model::AttemptExited>().end.stdout_inline;

  EXPECT_THAT(usual, testing::HasSubstr("NoNewPrivs:\t1\n"));
  EXPECT_THAT(allowed, testing::HasSubstr("NoNewPrivs:\t0\n"));
  if (::geteuid() == 0) {
    EXPECT_THAT(usual, testing::HasSubstr("CapBnd:\t0000000000000000\n"));
    EXPECT_THAT(allowed, testing::Not(testing::HasSubstr("CapBnd:\t0000000000000000\n")));
  }
}

TEST(HostsTest, AcceptsTheDeliveredKeyWithoutAChallenge) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.verify = {VerifyMethod::kDelivered};
  daemon.open();
  auto target = host.target();
  target.identity.challenge_secret.clear();
  target.identity.delivered_public_key = host.host_key();

  daemon.send(model::ConnectHost{target});

  EXPECT_EQ(daemon.await<model::HostVerified>().method, VerifyMethod::kDelivered);
  daemon.await<model::HostReady>();
}

TEST(HostsTest, AcceptsAKeyThatTheDriverVouchesFor) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.verify = {VerifyMethod::kDriver};
  daemon.driver_says = true;
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});

  EXPECT_EQ(daemon.await<model::HostVerified>().method, VerifyMethod::kDriver);
}

TEST(HostsTest, LogsInNowhereBeforeTheKeyIsProved) {
  Sshd::Options options;
  options.lines = "ForceCommand touch $HOME/somebody-was-here";
  const BootedHost host(options);
  FakeDaemon daemon(host);
  daemon.pool.verify = {VerifyMethod::kDelivered};
  daemon.open();
  auto target = host.target();
  target.identity.delivered_public_key = crypto::make_ed25519_key("").public_key;

  daemon.send(model::ConnectHost{target});
  const auto not_yet = daemon.await<model::HostNotYet>();
  daemon.close();

  EXPECT_EQ(not_yet.step, "verify");
  EXPECT_NE(not_yet.text.find("not the delivered"), std::string::npos) << not_yet.text;
  EXPECT_FALSE(std::filesystem::exists(host.dir() / "home/somebody-was-here"));
}

TEST(HostsTest, RaisesTheAlarmAndSendsNothingWhenAProvedHostShowsAnotherKey) {
  Sshd::Options options;
  options.lines = "ForceCommand touch $HOME/somebody-was-here";
  const BootedHost host(options);
  FakeDaemon daemon(host);
  daemon.open();
  auto target = host.target();
  target.identity.verified_by = VerifyMethod::kChallenge;
  target.identity.public_key = crypto::make_ed25519_key("").public_key;

  daemon.send(model::ConnectHost{target});
  const auto alarm = daemon.await<model::HostKeyAlarm>();
  daemon.close();

  EXPECT_EQ(alarm.seen_key, host.host_key());
  EXPECT_FALSE(std::filesystem::exists(host.dir() / "home/somebody-was-here"));
}

// Bug: each of the tries of an hour raised it anew, and filled the ledger.
TEST(HostsTest, RaisesTheAlarmOnceForOneKey) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  auto target = host.target();
  target.identity.verified_by = VerifyMethod::kChallenge;
  target.identity.public_key = crypto::make_ed25519_key("").public_key;

  daemon.send(model::ConnectHost{target});
  daemon.await<model::HostKeyAlarm>();

  EXPECT_THAT(daemon.await<model::HostNotYet>().text, testing::HasSubstr("nothing was sent to it"));
}

TEST(HostsTest, WaitsForAHostThatIsNotUpYet) {
  BootedHost host;
  host.stop();
  FakeDaemon daemon(host);
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});
  const auto not_yet = daemon.await<model::HostNotYet>();
  host.start();

  EXPECT_EQ(not_yet.step, "connect");
  EXPECT_NE(not_yet.text.find("refused"), std::string::npos) << not_yet.text;
  daemon.await<model::HostReady>();
}

TEST(HostsTest, WaitsForTheBootProbeAndKeepsItsLastOutput) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.boot_probe = "test -e $HOME/booted || { echo still mounting disks; exit 1; }";
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});
  const auto not_yet = daemon.await<model::HostNotYet>();
  ASSERT_TRUE(write_file(host.dir() / "home/booted", "", 0600));

  EXPECT_EQ(not_yet.step, "probe");
  EXPECT_NE(not_yet.text.find("still mounting disks"), std::string::npos) << not_yet.text;
  daemon.await<model::HostReady>();
}

// Bug: a probe that failed after a restart of the daemon killed the job that ran there.
TEST(HostsTest, FindsARunningJobAgainWhereTheBootProbeFailsByNow) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());
  const auto attempt = daemon.start("sleep 1000");
  daemon.await<model::AttemptStarted>();
  daemon.close();

  daemon.pool.boot_probe = "exit 1";
  daemon.open();
  auto target = host.target();
  target.was_ready = true;
  const auto ready = daemon.connect(target);

  ASSERT_EQ(ready.attempts.size(), 1U);
  EXPECT_EQ(ready.attempts[0].attempt, attempt);
  EXPECT_EQ(ready.attempts[0].phase, model::AttemptPhase::kRunning);
}

TEST(HostsTest, FindsARunningJobAgainAfterTheConnectionBroke) {
  BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  const auto before = daemon.connect(host.target());
  const std::string go = (host.dir() / "go").string();
  const auto attempt = daemon.start("mkfifo " + go + "; read x < " + go + "; exit 5");
  daemon.await<model::AttemptStarted>();

  host.stop();
  EXPECT_FALSE(daemon.await<model::HostLost>().text.empty());
  host.start();
  const auto after = daemon.await<model::HostReady>();
  shell("echo go > " + (host.dir() / "go").string());
  const auto exited = daemon.await<model::AttemptExited>();

  EXPECT_EQ(after.boot_id, before.boot_id);
  EXPECT_GT(after.connection, before.connection);
  ASSERT_EQ(after.attempts.size(), 1U);
  EXPECT_EQ(after.attempts[0].attempt, attempt);
  EXPECT_EQ(after.attempts[0].phase, model::AttemptPhase::kRunning);
  EXPECT_EQ(exited.end.exit_code, 5);
}

TEST(HostsTest, RefusesAStartThatWasMeantForAnEarlierConnection) {
  BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());
  host.stop();
  daemon.await<model::HostLost>();
  host.start();
  daemon.await<model::HostReady>();

  const auto attempt = daemon.start("true");  // with the first connection's number

  EXPECT_EQ(daemon.await<model::AttemptRefused>().attempt, attempt);
}

// Bodies are parsed on the hosts thread, so nothing behind one may get past it: the agent refuses
// a start whose sequence number is lower than an earlier one's.
TEST(HostsTest, StartsJobsInTheirOrderWhetherParsedOrNot) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());

  const auto first = daemon.start_body("exit 1");
  const auto second = daemon.start("exit 2");
  const auto third = daemon.start_body("exit 3");

  EXPECT_EQ(daemon.await<model::AttemptStarted>().attempt, first);
  EXPECT_EQ(daemon.await<model::AttemptStarted>().attempt, second);
  EXPECT_EQ(daemon.await<model::AttemptStarted>().attempt, third);
}

TEST(HostsTest, ABodyThatIsNoJobEndsOnlyItsOwnAttempt) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());

  const auto bad = daemon.start_body("bad");
  const auto good = daemon.start_body("exit 3");

  const auto failed = daemon.await<model::AttemptExited>();
  EXPECT_EQ(failed.attempt, bad);
  EXPECT_EQ(failed.end.reason, model::EndReason::kStartFailed);
  EXPECT_EQ(failed.end.text, "no job");
  const auto ended = daemon.await<model::AttemptExited>();
  EXPECT_EQ(ended.attempt, good);
  EXPECT_EQ(ended.end.exit_code, 3);
}

TEST(HostsTest, EndsAnAttemptThatIsKilled) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());
  const auto attempt = daemon.start("sleep 1000");
  daemon.await<model::AttemptStarted>();

  daemon.send(model::KillAttempt{model::InstanceId{7}, attempt});

  EXPECT_EQ(daemon.await<model::AttemptExited>().end.signal, 15);
}

TEST(HostsTest, KillsWhatIgnoresTermAfterTheConfiguredGrace) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.settings.kill_grace_us = 1;
  daemon.open();
  daemon.connect(host.target());
  const auto attempt = daemon.start("trap '' TERM; seq 100000; sleep 1000");
  daemon.await<model::AttemptStarted>();
  daemon.await_output(attempt, agent::kStdout, 588895);  // The trap is set by then.

  daemon.send(model::KillAttempt{model::InstanceId{7}, attempt});

  EXPECT_EQ(daemon.await<model::AttemptExited>().end.signal, 9);
}

TEST(HostsTest, AConnectedHostIsToldTheChecksOfAReload) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());

  daemon.pool.broken_checks = {{"disk", "echo full; exit 1", std::chrono::milliseconds(100)}};
  daemon.change_pool(daemon.pool);

  EXPECT_EQ(daemon.await<model::HostBroken>().check, "disk");
}

TEST(HostsTest, AConnectedHostReplacesItsKeyWhenAReloadWantsThat) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.rotate_keys = false;
  daemon.open();
  daemon.connect(host.target());

  daemon.pool.rotate_keys = true;
  daemon.change_pool(daemon.pool);

  EXPECT_NE(daemon.await<model::RotationProposed>().next_public_key, host.host_key());
}

TEST(HostsTest, RotatesKeyAndSecretOnceAfterTheFirstProof) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.rotate_keys = true;
  daemon.open();
  const std::string before = host.host_key();

  daemon.connect(host.target());
  const auto proposed = daemon.await<model::RotationProposed>();
  EXPECT_EQ(host.host_key(), before);
  auto identity = host.target().identity;
  identity.next_public_key = proposed.next_public_key;
  identity.next_secret = proposed.next_secret;
  daemon.send(model::ActivateRotation{model::InstanceId{7}, identity});
  const auto ended = daemon.await<model::RotationEnded>();

  EXPECT_TRUE(ended.rotated) << ended.text;
  EXPECT_EQ(host.host_key(), proposed.next_public_key);
  daemon.start("true");
  daemon.await<model::AttemptExited>();
}

TEST(HostsTest, KeepsTheKeyOfAMachineThatItsCreateDidNotMark) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.rotate_keys = true;
  daemon.pool.verify = {model::VerifyMethod::kDriver};
  daemon.driver_says = true;
  daemon.settings.patience.marker = Duration::zero();
  daemon.open();
  const std::string before = host.host_key();
  auto target = host.target();
  target.identity.challenge_secret = crypto::random_hex(32);

  daemon.connect(target);
  const auto ended = daemon.await<model::RotationEnded>();

  EXPECT_TRUE(ended.never) << "rotation: none";
  EXPECT_NE(ended.text.find("not marked by its create"), std::string::npos) << ended.text;
  EXPECT_EQ(host.host_key(), before);
  daemon.start("true");
  daemon.await<model::AttemptExited>();
}

TEST(HostsTest, TakesTheAgentsPlaceWhenThatIsOfAnotherVersion) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());
  const auto attempt = daemon.start("sleep 1000");
  daemon.await<model::AttemptStarted>();
  daemon.close();

  daemon.settings.agent_program += "another version";  // an ELF file may have bytes behind it
  daemon.settings.agent_sha256 = crypto::sha256_hex(daemon.settings.agent_program);
  daemon.open();
  const auto ready = daemon.connect(host.target());

  ASSERT_EQ(ready.attempts.size(), 1U);
  EXPECT_EQ(ready.attempts[0].attempt, attempt);
  // Ready is told by an agent of this version only.
  daemon.send(model::KillAttempt{model::InstanceId{7}, attempt});
  EXPECT_EQ(daemon.await<model::AttemptExited>().attempt, attempt);
}

// Bug: where the host had crashed before its disk had the bytes, an empty program stood there and
// was taken for the agent.
TEST(HostsTest, ReplacesAnAgentThatACrashLeftEmpty) {
  const BootedHost host;
  FakeDaemon daemon(host);
  const auto folder = host.dir() / "agent";
  std::filesystem::create_directories(folder);
  const auto program = folder / ("hostler-agent-" + daemon.settings.agent_sha256.substr(0, 16));
  ASSERT_TRUE(write_file(program, "", 0755));
  daemon.open();

  daemon.connect(host.target());

  EXPECT_EQ(std::filesystem::file_size(program), daemon.settings.agent_program.size());
}

}  // namespace
}  // namespace hostler::test
