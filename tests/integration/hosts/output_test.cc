#include <gmock/gmock.h>

#include "tests/integration/hosts/desk.h"

namespace hostler::test {
namespace {

std::string numbers(int count) {
  std::string out;
  for (int i = 1; i <= count; ++i) out += std::to_string(i) + "\n";
  return out;
}

TEST(HostOutputTest, BringsLargeOutputBackWhole) {
  const BootedHost host;
  Desk desk(host);
  desk.open();
  desk.connect(host.target());

  const auto attempt = desk.start("seq 200000; echo done >&2");
  const auto exited = desk.await<model::AttemptExited>();
  EXPECT_EQ(desk.await<model::AttemptCollected>().lost, "");

  EXPECT_FALSE(exited.end.output_is_inline);
  EXPECT_TRUE(desk.output(attempt, agent::kStdout) == numbers(200000));
  EXPECT_EQ(desk.output(attempt, agent::kStderr), "done\n");
}

TEST(HostOutputTest, AcknowledgesNothingBeforeItIsDurable) {
  const BootedHost host;
  Desk desk(host);
  desk.open();
  desk.connect(host.target());
  desk.hold_output(true);

  const auto attempt = desk.start("seq 200000");
  desk.await<model::AttemptExited>();
  desk.await_output(attempt, agent::kStdout, 1000);
  // The window is full and nothing was acknowledged: the rest stays where it is.
  EXPECT_LT(desk.output(attempt, agent::kStdout).size(), 600'000U);
  desk.hold_output(false);
  desk.await<model::AttemptCollected>();

  EXPECT_TRUE(desk.output(attempt, agent::kStdout) == numbers(200000));
}

TEST(HostOutputTest, ResumesOutputOfAnEndedAttemptWhereItIsDurable) {
  BootedHost host;
  Desk desk(host);
  desk.open();
  desk.connect(host.target());
  desk.hold_output(true);
  const auto attempt = desk.start("seq 200000");
  desk.await<model::AttemptExited>();
  desk.await_output(attempt, agent::kStdout, 1000);

  host.stop();
  desk.await<model::HostLost>();
  desk.hold_output(false);
  host.start();
  const auto ready = desk.await<model::HostReady>();
  ASSERT_EQ(ready.attempts.size(), 1U);
  EXPECT_EQ(ready.attempts[0].phase, model::AttemptPhase::kEnded);
  desk.await<model::AttemptExited>();
  EXPECT_EQ(desk.await<model::AttemptCollected>().lost, "");

  EXPECT_TRUE(desk.output(attempt, agent::kStdout) == numbers(200000));
}

TEST(HostOutputTest, PutsInputsThereAndBringsOutputFilesBack) {
  const BootedHost host;
  Desk desk(host);
  const std::string data = numbers(100000);
  const std::string sha = crypto::sha256_hex(data);
  desk.blobs[sha] = data;
  desk.open();
  desk.connect(host.target());

  const auto attempt =
      desk.start("mkdir -p out; wc -l < in/data > out/count", {{"in/data", sha, false}}, {"out/*"});
  const auto exited = desk.await<model::AttemptExited>();
  const auto collected = desk.await<model::AttemptCollected>();

  EXPECT_EQ(exited.end.exit_code, 0) << exited.end.text << exited.end.stderr_inline;
  EXPECT_EQ(collected.lost, "");
  EXPECT_EQ(desk.output(attempt, agent::kFirstFile), "100000\n");
}

// Bug: the second connection sends the file from its begin, and every piece was answered with an
// end beyond it, which was ignored.
TEST(HostOutputTest, CollectsALargeFileAlthoughTheConnectionBrokeMeanwhile) {
  BootedHost host;
  Desk desk(host);
  desk.open();
  desk.connect(host.target());
  constexpr std::size_t kMoreThanAWindow = 600'000;
  desk.hold_output_beyond(kMoreThanAWindow);
  const auto attempt = desk.start("seq 200000 > numbers", {}, {"numbers"});
  desk.await<model::AttemptExited>();
  desk.await_output(attempt, agent::kFirstFile, kMoreThanAWindow);

  host.stop();
  desk.await<model::HostLost>();
  desk.hold_output(false);
  host.start();
  EXPECT_EQ(desk.await<model::AttemptCollected>().lost, "");

  EXPECT_TRUE(desk.output(attempt, agent::kFirstFile) == numbers(200000));
}

// Bug: an error of the store was dropped, and the attempt was never collected.
TEST(HostOutputTest, GivesUpWhatTheStoreWillNotTakeAndSaysSo) {
  const BootedHost host;
  Desk desk(host);
  desk.refuse_beyond = 100'000;
  desk.open();
  desk.connect(host.target());

  desk.start("seq 200000; seq 200000 > large; echo small > small", {}, {"large", "small"});
  const std::string lost = desk.await<model::AttemptCollected>().lost;

  EXPECT_EQ(lost, "standard output: too much; output file 1: too much");
}

TEST(HostOutputTest, GivesUpAllFilesWhereTheirListIsRefused) {
  const BootedHost host;
  Desk desk(host);
  desk.refuse_files = Error{Errc::kInvalidArgument, "no such names here"};
  desk.open();
  desk.connect(host.target());

  desk.start("echo x > a; echo y > b", {}, {"*"});

  EXPECT_EQ(desk.await<model::AttemptCollected>().lost,
            "the list of its files: no such names here");
}

TEST(HostOutputTest, FailsAnAttemptWhoseInputIsNotHere) {
  const BootedHost host;
  Desk desk(host);
  desk.open();
  desk.connect(host.target());

  desk.start("true", {{"data", std::string(64, 'a'), false}});
  const auto failed = desk.await<model::AttemptExited>();
  desk.start("exit 4");
  const auto next = desk.await<model::AttemptExited>();

  EXPECT_EQ(failed.end.reason, model::EndReason::kInputFailed);
  EXPECT_EQ(next.end.exit_code, 4);
}

// Bug: each piece behind the one that was refused was answered too, and each answer failed another
// attempt that waited for the same input.
TEST(HostOutputTest, ARefusedInputFailsEachAttemptForItsOwnReason) {
  const BootedHost host;
  Desk desk(host);
  desk.settings.blobs_max = 100'000;
  const std::string data = numbers(100000);
  const std::string sha = crypto::sha256_hex(data);
  desk.blobs[sha] = data;
  desk.open();
  desk.connect(host.target());

  for (int i = 0; i < 3; ++i) desk.start("true", {{"data", sha, false}});

  for (int i = 0; i < 3; ++i) {
    const auto failed = desk.await<model::AttemptExited>();
    EXPECT_EQ(failed.end.reason, model::EndReason::kInputFailed);
    EXPECT_THAT(failed.end.text, testing::HasSubstr("that this host keeps"));
  }
}

}  // namespace
}  // namespace hostler::test
