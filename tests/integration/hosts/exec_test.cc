#include <gmock/gmock.h>

#include <filesystem>

#include "tests/integration/hosts/fake_daemon.h"

/// Commands that the daemon runs on a proved host.
namespace hostler::test {
namespace {

using testing::HasSubstr;

class ExecTest : public testing::Test {
 protected:
  ExecTest() { daemon.open(); }

  model::CommandEnded run(std::vector<std::string> arguments, std::string input = "",
                          Duration limit = std::chrono::seconds(30)) {
    model::RunCommand command{model::InstanceId{7}, ++last_, {}};
    command.command.arguments = std::move(arguments);
    command.command.input = std::move(input);
    command.command.limit = limit;
    daemon.send(std::move(command));
    auto ended = daemon.await<model::CommandEnded>();
    EXPECT_EQ(ended.number, last_);
    return ended;
  }

  BootedHost host;
  FakeDaemon daemon{host};

 private:
  std::uint64_t last_ = 0;
};

TEST_F(ExecTest, ReportsOutputAndStatusOfACommandWithAnyArguments) {
  daemon.connect(host.target());
  const auto said = run({"printf", "%s|", "a b", "it's", "$HOME `id` \\", "", "*"});
  EXPECT_EQ(said.output, "a b|it's|$HOME `id` \\||*|");
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(run({"sh", "-c", "cat; echo no >&2; exit 3"}, "input").output, "input");
  const auto failed = run({"sh", "-c", "echo no >&2; exit 3"});
  EXPECT_EQ(failed.status, 3);
  EXPECT_EQ(failed.errors, "no\n");
  EXPECT_EQ(run({"sh", "-c", "kill -TERM $$"}).signal, "TERM");
}

TEST_F(ExecTest, KeepsABoundedPartOfTheOutput) {
  daemon.connect(host.target());
  const auto said = run({"head", "-c", "100000", "/dev/zero"});
  EXPECT_EQ(said.output.size(), 4096U);
  EXPECT_TRUE(said.truncated);
  EXPECT_EQ(said.status, 0);
  const auto flood = run({"yes"});
  EXPECT_THAT(flood.error, HasSubstr("prints too much"));
  EXPECT_TRUE(flood.outcome_unknown);
}

TEST_F(ExecTest, ACommandThatPassesItsLimitMayStillRun) {
  daemon.connect(host.target());
  const auto late = run({"sleep", "60"}, "", std::chrono::milliseconds(300));
  EXPECT_NE(late.error, "");
  EXPECT_TRUE(late.outcome_unknown);
}

TEST_F(ExecTest, WithoutAProvedConnectionNothingIsStarted) {
  const auto no_link = run({"true"});
  EXPECT_THAT(no_link.error, HasSubstr("no link"));
  EXPECT_FALSE(no_link.outcome_unknown);

  auto stranger = host.target();
  stranger.identity.challenge_secret = crypto::random_hex(32);
  daemon.send(model::ConnectHost{stranger});
  EXPECT_EQ(daemon.await<model::HostNotYet>().step, "verify");
  const auto unproved = run({"touch", (host.dir() / "touched").string()});
  EXPECT_THAT(unproved.error, HasSubstr("not connected"));
  EXPECT_FALSE(unproved.outcome_unknown);
  EXPECT_FALSE(std::filesystem::exists(host.dir() / "touched"));
}

TEST_F(ExecTest, AConnectionThatEndsLeavesTheOutcomeUnknown) {
  daemon.connect(host.target());
  model::RunCommand command{model::InstanceId{7}, 1, {}};
  command.command.arguments = {"sh", "-c",
                               "echo $$ > " + (host.dir() / "pid").string() + "; exec sleep 60"};
  daemon.send(std::move(command));
  shell("until [ -s " + (host.dir() / "pid").string() + " ]; do sleep 0.1; done");
  host.stop();
  const auto ended = daemon.await<model::CommandEnded>();
  EXPECT_TRUE(ended.outcome_unknown) << ended.error;
}

}  // namespace
}  // namespace hostler::test
