#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "tests/integration/agent/agent_fixture.h"

namespace hostler::agent::test {
namespace {

using model::EndReason;

TEST_F(AgentTest, RunsACommandAndReturnsItsOutputWithTheExit) {
  auto link = ready_link();

  const Exit exit = run(*link, command({"/bin/sh", "-c", "echo out; echo err >&2; exit 7"}));

  EXPECT_EQ(exit.end.reason, EndReason::kExit);
  EXPECT_EQ(exit.end.exit_code, 7);
  EXPECT_TRUE(exit.end.output_is_inline);
  EXPECT_EQ(exit.end.stdout_inline, "out\n");
  EXPECT_EQ(exit.end.stderr_inline, "err\n");
  EXPECT_TRUE(link->await<Collected>());
}

TEST_F(AgentTest, RunsAScriptWithEnvironmentStdinAndAFolderOfItsOwn) {
  auto link = ready_link();
  Start start = script(
      "read line; echo $line $A $HOSTLER_JOB_ID.$HOSTLER_ATTEMPT; pwd; umask\n"
      "echo x > file; ls; test $HOME = $PWD && test $TMPDIR = $PWD && echo home\n");
  start.stdin_text = "hello\n";
  start.env.emplace_back("A", "b c");

  const Exit exit = run(*link, start);

  EXPECT_EQ(exit.end.stdout_inline,
            "hello b c j-1.1\n" + (folder_ / "state/work/1").string() + "\n0022\nfile\nhome\n");
  EXPECT_EQ(exit.end.stderr_inline, "");
}

TEST_F(AgentTest, SaysWhyACommandCannotBeExecuted) {
  auto link = ready_link();

  const Exit exit = run(*link, command({"/no/such/program"}));

  EXPECT_EQ(exit.end.reason, EndReason::kStartFailed);
  EXPECT_EQ(exit.end.text, "exec /no/such/program: No such file or directory");
}

// Bug: the job was reported as failed, though only this host could not start it.
TEST_F(AgentTest, WhatTheHostKeepsFromStartingIsRefusedUntilThatIsAcknowledged) {
  auto link = ready_link();
  const Start start = script("echo ran");
  // Whoever runs this test, nothing can be created below a file.
  std::filesystem::rename(state_ / "work", state_ / "away");
  ASSERT_TRUE(write_file(state_ / "work", "", 0600));

  ASSERT_TRUE(link->client.start(start));
  auto refused = link->await<Refused>();
  ASSERT_TRUE(refused) << link->error;
  EXPECT_EQ(refused->attempt, start.attempt);
  EXPECT_EQ(refused->text, "create work/1: Not a directory");

  std::filesystem::remove(state_ / "work");
  std::filesystem::rename(state_ / "away", state_ / "work");
  kill_server();
  link = connect();
  const auto ready = link->await<Ready>();
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->attempts, (std::vector<Known>{{start.attempt, Phase::kEnded}}));
  refused = link->await<Refused>();
  ASSERT_TRUE(refused) << "told again by the next server";
  EXPECT_EQ(refused->attempt, start.attempt);
  ASSERT_TRUE(link->client.ack({start.attempt}));
  EXPECT_EQ(run(*link, script("exit 3")).end.exit_code, 3) << "the host is well again";

  link = connect();
  const auto later = link->await<Ready>();
  ASSERT_TRUE(later);
  ASSERT_EQ(later->attempts.size(), 1U);
  EXPECT_NE(later->attempts[0].attempt, start.attempt);
}

TEST_F(AgentTest, AScriptThatCannotBeWrittenIsTheHostsFault) {
  auto link = ready_link();
  std::filesystem::rename(state_ / "out", state_ / "away");

  ASSERT_TRUE(link->client.start(script("echo ran")));
  const auto refused = link->await<Refused>();

  ASSERT_TRUE(refused) << link->error;
  EXPECT_EQ(refused->text, "create out/1.1.sh: No such file or directory");
}

TEST_F(AgentTest, AProgramThatCannotBeExecutedIsTheJobsFault) {
  auto link = ready_link();
  ASSERT_TRUE(write_file(folder_ / "no-interpreter", "#!/no/such/interpreter\n", 0755));
  ASSERT_TRUE(write_file(folder_ / "no-program", "text\n", 0644));
  for (const std::string& program :
       {(folder_ / "no-interpreter").string(), (folder_ / "no-program").string(), std::string("/")})
    EXPECT_EQ(run(*link, command({program})).end.reason, EndReason::kStartFailed) << program;
}

TEST_F(AgentTest, ReportsTheSignalThatEndedACommand) {
  auto link = ready_link();

  const Exit exit = run(*link, command({"/bin/sh", "-c", "kill -SEGV $$"}));

  EXPECT_EQ(exit.end.reason, EndReason::kSignal);
  EXPECT_EQ(exit.end.signal, SIGSEGV);
}

TEST_F(AgentTest, KillsAJobThatIgnoresTermAtItsTimeLimit) {
  auto link = ready_link();
  Start start = command({"/bin/sh", "-c", "trap '' TERM; echo on; while :; do sleep 1000; done"});
  start.time_limit_us = 300'000;
  start.grace_us = 200'000;

  const Exit exit = run(*link, start);

  EXPECT_EQ(exit.end.reason, EndReason::kTimeLimit);
  EXPECT_EQ(exit.end.signal, SIGKILL);
  EXPECT_EQ(link->all_output(exit), "on\n");
}

TEST_F(AgentTest, KillEndsAJobByTerm) {
  auto link = ready_link();
  const Start start =
      script("trap 'echo caught; exit 3' TERM; : > on\nwhile :; do sleep 0.01; done");
  ASSERT_TRUE(link->client.start(start));
  link->flush();
  ASSERT_TRUE(await_file(folder_ / "state/work/1/on"));

  ASSERT_TRUE(link->client.kill(start.attempt));
  const auto exit = link->await_exit(start.attempt);

  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->end.exit_code, 3);
  EXPECT_EQ(link->all_output(*exit), "caught\n");
}

TEST_F(AgentTest, SweepsProcessesThatForkAway) {
  auto link = ready_link();
  const Start start = script(
      "for i in 1 2 3; do setsid sh -c 'setsid sleep 1000 & setsid sleep 1000' & done\n"
      "sleep 0.1; echo done");

  const Exit exit = run(*link, start);

  EXPECT_EQ(exit.end.reason, EndReason::kExit);
  EXPECT_TRUE(processes_of(start).empty());
}

TEST_F(AgentTest, AcknowledgedAttemptsLeaveNothingBehind) {
  auto link = ready_link();
  const Start start = script("mkdir -p a/b; echo x > a/b/c; seq 100000; ln -s / a/root");
  run(*link, start);
  ASSERT_TRUE(link->await<Collected>());

  ASSERT_TRUE(link->client.ack({start.attempt}));
  ASSERT_TRUE(link->client.ping(1));
  ASSERT_TRUE(link->await<Pong>());

  EXPECT_TRUE(std::filesystem::is_empty(state_ / "work"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "state/out"));
}

TEST_F(AgentTest, RefusesAnotherBootAndUsedSequenceNumbers) {
  auto link = ready_link();
  run(*link, command({"/bin/true"}));

  Start other = command({"/bin/true"});
  other.boot_id = "boot-0";
  Start used = command({"/bin/true"});
  used.sequence = 1;
  ASSERT_TRUE(link->client.start(other));
  ASSERT_TRUE(link->client.start(used));

  auto refused = link->await<Refused>();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Refused::Why::kOtherBoot);
  refused = link->await<Refused>();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Refused::Why::kUsedSequence);
}

TEST_F(AgentTest, RunsAThousandQuickJobs) {
  auto link = ready_link();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(link->client.start(command({"/bin/true"})));

  for (int i = 0; i < 1000; ++i) {
    const auto exit = link->await<Exit>();
    ASSERT_TRUE(exit) << i << " " << link->error;
    EXPECT_EQ(exit->end.reason, EndReason::kExit);
    EXPECT_EQ(exit->end.exit_code, 0);
    ASSERT_TRUE(link->client.ack({exit->attempt}));
  }
}

// Bug: where 64 was the hard limit, shims closed the lock by which the server knows them, and their
// jobs stayed running.
TEST_F(AgentTest, AHostWithTooFewDescriptorsRefusesStartsAndSaysWhy) {
  command_.insert(command_.begin(), {"/usr/bin/prlimit", "--nofile=64:64"});
  auto link = ready_link();
  const Start start = script("true");
  ASSERT_TRUE(link->client.start(start));

  const auto refused = link->await<Refused>();

  ASSERT_TRUE(refused) << link->error;
  EXPECT_EQ(refused->attempt, start.attempt);
  EXPECT_EQ(refused->why, Refused::Why::kInternal);
  EXPECT_EQ(refused->text,
            "a process may open 64 files on this host (ulimit -n), and a job needs 128");
}

}  // namespace
}  // namespace hostler::agent::test
