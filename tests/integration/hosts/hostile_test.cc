#include <gmock/gmock.h>

#include "core/agent/protocol.h"
#include "core/ssh/challenge.h"
#include "tests/integration/hosts/enemy.h"
#include "tests/integration/hosts/fake_daemon.h"
#include "tests/temp_folder.h"

/// Hosts whose agent is an enemy's.
namespace hostler::test {
namespace {

std::string greeting(const std::vector<agent::Known>& known = {}) {
  return std::string(agent::kGreeting) +
         frames(agent::Hello{}, agent::Listing{known, true}, agent::Cards{});
}

agent::Exit exit_of(model::AttemptId attempt) {
  agent::Exit exit;
  exit.attempt = attempt;
  exit.end.output_is_inline = false;
  exit.end.stdout_bytes = 6;
  exit.end.has_output_files = true;
  return exit;
}

// Bug: whatever a host listed it could write the output and the files of, though it ran elsewhere.
TEST(HostileHostTest, WritesNoOutputOfAnothersAttempt) {
  const BootedHost host;
  FakeDaemon daemon(host);
  const model::AttemptId others{model::WorkId{42}, 1};
  const model::AttemptId unheard_of{model::WorkId{43}, 1};
  install(daemon, enemy(greeting({{others, agent::Phase::kEnded}}) +
                            frames(exit_of(others), exit_of(unheard_of),
                                   agent::Output{others, agent::kStdout, 0, "forged"},
                                   agent::Output{unheard_of, agent::kStdout, 0, "forged"},
                                   agent::Files{others, {{"forged", 0, 0600, ""}}, true},
                                   agent::Files{unheard_of, {{"forged", 0, 0600, ""}}, true},
                                   agent::HostBroken{"all", "is said"}),
                        "exec cat > /dev/null"));
  daemon.open();

  daemon.connect(host.target());
  EXPECT_EQ(daemon.await<model::AttemptExited>().attempt, others) << "the loop knows what to do";
  daemon.await<model::HostBroken>();
  daemon.close();

  EXPECT_EQ(daemon.output(others, agent::kStdout), "");
  EXPECT_EQ(daemon.output(unheard_of, agent::kStdout), "");
  EXPECT_THAT(daemon.listed(), testing::IsEmpty());
}

// Bug: what is queued for it was bounded by nothing. Each exit that it makes up is acknowledged.
TEST(HostileHostTest, IsHungUpOnWhenItSendsAndDoesNotRead) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.settings.unread_max = std::size_t{1} << 20;
  install(daemon, enemy(greeting(), "while again; do :; done", frames(agent::Pong{})));
  daemon.open();
  const model::HostTarget target = host.target();
  daemon.connect(target);

  for (std::uint64_t i = 1; i <= 400'000; ++i)
    daemon.send(model::AckAttempt{target.instance, {model::WorkId{i}, 1}});

  EXPECT_THAT(daemon.await<model::HostLost>().text, testing::HasSubstr("does not read"));
}

// Bug: it was asked every 20 s, whatever the probe timeout was, and counted as heard until then.
TEST(HostileHostTest, IsLostWithinHalfTheProbeTimeoutWhenItAnswersNothing) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.probe_timeout = std::chrono::seconds(2);
  install(daemon, enemy(greeting(), "exec cat > /dev/null"));
  daemon.open();
  daemon.connect(host.target());

  const auto lost = daemon.await<model::HostLost>();

  EXPECT_THAT(lost.text, testing::HasSubstr("has not answered for 500"));
  EXPECT_GE(lost.silent, std::chrono::milliseconds(500));
  EXPECT_LE(lost.silent, std::chrono::seconds(1));
}

// Bug: whoever had counted it as connected at its proof was never told of the end.
TEST(HostileHostTest, IsLostAlsoWhenItNeverGetsReady) {
  const BootedHost host;
  FakeDaemon daemon(host);
  install(daemon, enemy("no greeting", "true"));
  daemon.open();

  daemon.send(model::ConnectHost{host.target()});

  daemon.await<model::HostVerified>();
  EXPECT_EQ(daemon.await<model::HostNotYet>().step, "agent");
  daemon.await<model::HostLost>();
}

// It passes on to the real host, which answers, all that it is asked.
TEST(HostileHostTest, LearnsNothingButTheChallengeAsARelay) {
  const BootedHost real;
  const TempFolder seen;
  const std::string folder = seen.path().string();
  Sshd::Options options;
  options.lines = "ForceCommand echo \"$SSH_ORIGINAL_COMMAND\" >> " + folder +
                  "/commands; tee -a " + folder +
                  "/input | ssh -q -F none -o BatchMode=yes -o StrictHostKeyChecking=no "
                  "-o UserKnownHostsFile=/dev/null -i " +
                  (real.dir() / "user").string() + " -p " + std::to_string(real.port()) +
                  " 127.0.0.1 \"$SSH_ORIGINAL_COMMAND\"";
  const Sshd relay(options);
  FakeDaemon daemon(relay);
  daemon.open();
  model::HostTarget target = real.target();
  target.port = relay.port();

  daemon.send(model::ConnectHost{target});

  EXPECT_THAT(daemon.await<model::HostNotYet>().text, testing::HasSubstr("wrong proof"));
  daemon.close();
  EXPECT_THAT(*read_file(folder + "/commands", 10000),
              testing::ContainsRegex("^(sh -s -- [0-9a-f]{32} h-7\n)+$"));
  const std::string script = ssh::challenge_request({"00", "h-7"}).input;
  std::string input = *read_file(folder + "/input", 100000);
  EXPECT_TRUE(input.starts_with(script)) << input;
  while (input.starts_with(script)) input.erase(0, script.size());
  EXPECT_TRUE(script.starts_with(input)) << "of the next try: " << input;
}

// What waits to be started is not held against an agent that reads slowly.
TEST(HostileHostTest, IsNoneThatReadsManyStartsSlowly) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.settings.unread_max = std::size_t{3} << 20;
  install(daemon, enemy(greeting(),
                        "head -c 5000 > /dev/null; again; head -c 20000000 > /dev/null; again; "
                        "exec cat > /dev/null",
                        frames(agent::HostBroken{"some", "were read"})));
  daemon.open();
  daemon.connect(host.target());

  for (int i = 0; i < 40; ++i) daemon.start("# " + std::string(std::size_t{1} << 20, 'x'));

  daemon.await<model::HostBroken>();
  daemon.await<model::HostBroken>();
}

// Bug: after the last piece of an input one without a byte followed every write, until the agent
// had answered; and with every "not here" all of it began anew.
TEST(HostileHostTest, IsSentAnInputOnceHoweverOftenItSaysThatItIsNotThere) {
  const BootedHost host;
  FakeDaemon daemon(host);
  const std::string data = "input";
  const std::string sha = crypto::sha256_hex(data);
  daemon.blobs[sha] = data;
  agent::Configure configure;
  configure.blobs_max = daemon.settings.blobs_max;
  const auto read = [](const std::string& bytes) {
    return "head -c " + std::to_string(bytes.size()) + " > /dev/null\nagain\n";
  };
  const std::string upload =
      frames(agent::BlobPut{.sha256 = sha, .size = data.size(), .offset = 0, .data = data});
  install(daemon,
          enemy(greeting(),
                read(frames(configure, agent::Guard{}, agent::BlobQuery{sha})) + read(upload) +
                    read(frames(configure)) + "exec cat > /dev/null",
                frames(agent::BlobState{sha, false, ""}, agent::HostBroken{"all", "is read"})));
  daemon.open();
  daemon.connect(host.target());

  daemon.start("true", {{"data", sha, false}});
  daemon.await<model::HostBroken>();
  daemon.await<model::HostBroken>();
  daemon.change_pool(daemon.pool);
  daemon.await<model::HostBroken>();

  EXPECT_EQ(daemon.blob_reads, 1);
}

}  // namespace
}  // namespace hostler::test
