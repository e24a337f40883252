#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "tests/integration/agent/agent_fixture.h"

/// The interruption command beside a job, and the check that tells of an interruption.
namespace hostler::agent::test {
namespace {

using model::InterruptionAction;

constexpr std::uint64_t kMinute = 60'000'000;

class InterruptionTest : public AgentTest {
 protected:
  /// Waits for a file of the test's own in its folder.
  Start waiting(const std::string& command) {
    Start start = script("echo begun; until test -e go; do sleep 0.05; done; echo ended");
    start.env.emplace_back("WORD", "of-the-job");
    start.interruption_command = command;
    return start;
  }
  static Interrupt notice(const Start& start, std::uint64_t number, std::uint64_t left = kMinute) {
    return {start.attempt, number, 1'700'000'000'000'000, left, InterruptionAction::kStop};
  }
  std::string runs() { return read_file(state_ / "work/1/runs", 100).value_or(""); }
  void let_go() { ASSERT_TRUE(write_file(state_ / "work/1/go", "", 0644)); }
};

TEST_F(InterruptionTest, TheCommandRunsInTheEnvironmentOfTheJobAndKnowsTheTimeThatIsLeft) {
  auto link = ready_link();
  const Start start = waiting(
      "echo $WORD $HOSTLER_JOB_ID $HOSTLER_INTERRUPTION_ACTION $HOSTLER_INTERRUPTION_TIME;"
      "test $HOSTLER_INTERRUPTION_SECONDS_LEFT -gt 30 && test $HOSTLER_INTERRUPTION_SECONDS_LEFT "
      "-le 60 && echo left; pwd; echo > go");
  ASSERT_TRUE(link->client.start(start));
  ASSERT_TRUE(link->await<Chunk>()) << "it has begun";
  ASSERT_TRUE(link->client.interrupt(notice(start, 1)));

  const auto exit = link->await_exit(start.attempt);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->end.exit_code, 0);
  EXPECT_EQ(link->all_output(*exit), "begun\nof-the-job j-1 stop 1700000000\nleft\n" +
                                         (folder_ / "state/work/1").string() + "\nended\n");
}

TEST_F(InterruptionTest, ItRunsOnceForEachNoticeAlsoThroughAnotherServer) {
  auto link = ready_link();
  const Start start = waiting("echo ran >> runs");
  ASSERT_TRUE(link->client.start(start));
  ASSERT_TRUE(link->await<Chunk>());
  ASSERT_TRUE(link->client.interrupt(notice(start, 1)));
  link->flush();
  ASSERT_TRUE(await_file(state_ / "work/1/runs"));
  kill_server();
  link = ready_link();
  ASSERT_TRUE(link->client.resume(start.attempt, 0, 0));
  ASSERT_TRUE(link->client.interrupt(notice(start, 1)));
  ASSERT_TRUE(link->client.interrupt(notice(start, 2)));
  link->flush();
  for (int i = 0; i < 600 && runs() != "ran\nran\n"; ++i)
    (void)link->next(std::chrono::milliseconds(100));
  EXPECT_EQ(runs(), "ran\nran\n");
  let_go();
  ASSERT_TRUE(link->await_exit(start.attempt));
}

TEST_F(InterruptionTest, ItIsKilledAtTheInterruptionAndItsFailureIsToldOnStderr) {
  auto link = ready_link();
  const Start start = waiting("trap '' TERM; sleep 1000");
  ASSERT_TRUE(link->client.start(start));
  ASSERT_TRUE(link->await<Chunk>());
  ASSERT_TRUE(link->client.interrupt(notice(start, 1, 300'000)));
  const auto told = link->await<Chunk>([](const Chunk& one) { return one.stream == kStderr; });
  ASSERT_TRUE(told);
  EXPECT_EQ(told->data, "hostler: the interruption command ended with signal 9\n");
  let_go();
  const auto exit = link->await_exit(start.attempt);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->end.exit_code, 0) << "the job is as it was";
}

TEST_F(InterruptionTest, ItEndsWithTheJobAndAJobWithoutOneIsLeftAlone) {
  auto link = ready_link();
  const Start with = waiting("echo > go; exec sleep 1000");
  ASSERT_TRUE(link->client.start(with));
  ASSERT_TRUE(link->await<Chunk>());
  ASSERT_TRUE(link->client.interrupt(notice(with, 1)));
  ASSERT_TRUE(link->await_exit(with.attempt));
  EXPECT_TRUE(processes_of(with).empty());

  const Start without = script("echo begun; sleep 0.5; echo ended");
  ASSERT_TRUE(link->client.start(without));
  ASSERT_TRUE(link->client.interrupt(notice(without, 1)));
  ASSERT_TRUE(link->client.interrupt(notice(with, 2))) << "one that has ended";
  const auto exit = link->await_exit(without.attempt);
  ASSERT_TRUE(exit);
  EXPECT_EQ(link->all_output(*exit), "begun\nended\n");
}

TEST_F(InterruptionTest, ACheckTellsWhatItPrintsOnceAndWhenThatChanges) {
  auto link = connect();
  ASSERT_TRUE(link->await<Ready>());
  const auto notice = folder_ / "notice";
  Configure configure;
  configure.checks = {{"spot",
                       "echo noise >&2; test -e " + (folder_ / "fails").string() +
                           " && exit 1; cat " + notice.string() + " 2>/dev/null; true",
                       100'000, 5'000'000, Check::Kind::kInterrupted}};
  ASSERT_TRUE(link->client.configure(configure));
  const auto first = link->await<SpotNotice>();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->text, "") << "there is none";
  ASSERT_TRUE(write_file(notice, "at noon\n", 0644));
  const auto second = link->await<SpotNotice>();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->text, "at noon");
  ASSERT_TRUE(write_file(folder_ / "fails", "", 0644));
  ASSERT_TRUE(write_file(notice, "", 0644));
  EXPECT_FALSE(link->next(std::chrono::milliseconds(500))) << "a check that fails says nothing";
  std::filesystem::remove(folder_ / "fails");
  const auto third = link->await<SpotNotice>();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->text, "");
}

}  // namespace
}  // namespace hostler::agent::test
