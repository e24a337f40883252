#include <gmock/gmock.h>

#include "tests/integration/hosts/fake_daemon.h"

namespace hostler::test {
namespace {

std::string numbers(int count) {
  std::string out;
  for (int i = 1; i <= count; ++i) out += std::to_string(i) + "\n";
  return out;
}

TEST(HostOutputTest, BringsLargeOutputBackWhole) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());

  const auto attempt = daemon.start("seq 200000; echo done >&2");
  const auto exited = daemon.await<model::AttemptExited>();
  EXPECT_EQ(daemon.await<model::AttemptCollected>().lost, "");

  EXPECT_FALSE(exited.end.output_is_inline);
  EXPECT_TRUE(daemon.output(attempt, agent::kStdout) == numbers(200000));
  EXPECT_EQ(daemon.output(attempt, agent::kStderr), "done\n");
}

TEST(HostOutputTest, AcknowledgesNothingBeforeItIsDurable) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());
  daemon.hold_output(true);

  const auto attempt = daemon.start("seq 200000");
  daemon.await<model::AttemptExited>();
  daemon.await_output(attempt, agent::kStdout, 1000);
  // The window is full and nothing was acknowledged: the rest stays where it is.
  EXPECT_LT(daemon.output(attempt, agent::kStdout).size(), 600'000U);
  daemon.hold_output(false);
  daemon.await<model::AttemptCollected>();

  EXPECT_TRUE(daemon.output(attempt, agent::kStdout) == numbers(200000));
}

TEST(HostOutputTest, ResumesOutputOfAnEndedAttemptWhereItIsDurable) {
  BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());
  daemon.hold_output(true);
  const auto attempt = daemon.start("seq 200000");
  daemon.await<model::AttemptExited>();
  daemon.await_output(attempt, agent::kStdout, 1000);

  host.stop();
  daemon.await<model::HostLost>();
  daemon.hold_output(false);
  host.start();
  const auto ready = daemon.await<model::HostReady>();
  ASSERT_EQ(ready.attempts.size(), 1U);
  EXPECT_EQ(ready.attempts[0].phase, model::AttemptPhase::kEnded);
  daemon.await<model::AttemptExited>();
  EXPECT_EQ(daemon.await<model::AttemptCollected>().lost, "");

  EXPECT_TRUE(daemon.output(attempt, agent::kStdout) == numbers(200000));
}

TEST(HostOutputTest, PutsInputsThereAndBringsOutputFilesBack) {
  const BootedHost host;
  FakeDaemon daemon(host);
  const std::string data = numbers(100000);
  const std::string sha = crypto::sha256_hex(data);
  daemon.blobs[sha] = data;
  daemon.open();
  daemon.connect(host.target());

  const auto attempt = daemon.start("mkdir -p out; wc -l < in/data > out/count",
                                    {{"in/data", sha, false}}, {"out/*"});
  const auto exited = daemon.await<model::AttemptExited>();
  const auto collected = daemon.await<model::AttemptCollected>();

  EXPECT_EQ(exited.end.exit_code, 0) << exited.end.text << exited.end.stderr_inline;
  EXPECT_EQ(collected.lost, "");
  EXPECT_EQ(daemon.output(attempt, agent::kFirstFile), "100000\n");
}

// Bug: the second connection sends the file from its begin, and every piece was answered with an
// end beyond it, which was ignored.
TEST(HostOutputTest, CollectsALargeFileAlthoughTheConnectionBrokeMeanwhile) {
  BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());
  constexpr std::size_t kMoreThanAWindow = 600'000;
  daemon.hold_output_beyond(kMoreThanAWindow);
  const auto attempt = daemon.start("seq 200000 > numbers", {}, {"numbers"});
  daemon.await<model::AttemptExited>();
  daemon.await_output(attempt, agent::kFirstFile, kMoreThanAWindow);

  host.stop();
  daemon.await<model::HostLost>();
  daemon.hold_output(false);
  host.start();
  EXPECT_EQ(daemon.await<model::AttemptCollected>().lost, "");

  EXPECT_TRUE(daemon.output(attempt, agent::kFirstFile) == numbers(200000));
}

TEST(HostOutputTest, OutputWithoutRoomStaysOnItsHostUntilThereIsRoom) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.room = 300'000;
  daemon.open();
  daemon.connect(host.target());

  const auto attempt = daemon.start("seq 200000; seq 200000 > numbers", {}, {"numbers"});
  daemon.await<model::AttemptExited>();
  const auto waits = daemon.await<model::OutputProgress>();
  EXPECT_TRUE(waits.waits_for_room);
  EXPECT_EQ(waits.size, 2 * numbers(200000).size());
  EXPECT_LT(daemon.kept(attempt), 600'000U) << "two windows at most";
  EXPECT_EQ(daemon.output(attempt, agent::kFirstFile), "");

  daemon.room = std::uint64_t{1} << 40U;
  EXPECT_EQ(daemon.await<model::AttemptCollected>().lost, "");
  EXPECT_TRUE(daemon.output(attempt, agent::kStdout) == numbers(200000));
  EXPECT_TRUE(daemon.output(attempt, agent::kFirstFile) == numbers(200000));
}

// Bug: parts of all outputs filled the disk, and none was whole.
TEST(HostOutputTest, WhereRoomIsShortOneOutputComesWholeBeforeTheNext) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.room = 1'000'000;  // More than one of them, less than two.
  daemon.open();
  daemon.connect(host.target());

  const auto first = daemon.start("seq 120000 > numbers", {}, {"numbers"});
  EXPECT_EQ(daemon.await<model::AttemptCollected>().attempt, first);
  daemon.room = 300'000;
  const auto second = daemon.start("seq 120000 > numbers", {}, {"numbers"});
  EXPECT_TRUE(daemon.await<model::OutputProgress>().waits_for_room);
  const auto small = daemon.start("seq 20000 > numbers", {}, {"numbers"});
  EXPECT_EQ(daemon.await<model::AttemptCollected>().attempt, small) << "it fits";
  EXPECT_EQ(daemon.output(second, agent::kFirstFile), "");
  daemon.room = 1'000'000;
  EXPECT_EQ(daemon.await<model::AttemptCollected>().attempt, second);
}

TEST(HostOutputTest, ARunningJobSendsNoMoreThanItsFirstWindowsWhileRoomIsShort) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.room = 300'000;
  daemon.open();
  daemon.connect(host.target());

  const auto attempt = daemon.start("seq 200000; until [ -e go-on ]; do sleep 0.05; done");
  daemon.await<model::AttemptStarted>();
  daemon.await_output(attempt, agent::kStdout, 200'000);
  daemon.room = std::uint64_t{1} << 40U;
  daemon.await_output(attempt, agent::kStdout, numbers(200000).size());
  daemon.send(model::KillAttempt{{7}, attempt});
  daemon.await<model::AttemptExited>();
}

// Bug: an error of the store was dropped, and the attempt was never collected.
TEST(HostOutputTest, GivesUpWhatTheStoreWillNotTakeAndSaysSo) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.refuse_beyond = 100'000;
  daemon.open();
  daemon.connect(host.target());

  daemon.start("seq 200000; seq 200000 > large; echo small > small", {}, {"large", "small"});
  const std::string lost = daemon.await<model::AttemptCollected>().lost;

  EXPECT_EQ(lost, "standard output: too much; output file 1: too much");
}

TEST(HostOutputTest, GivesUpAllFilesWhereTheirListIsRefused) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.refuse_files = Error{Errc::kInvalidArgument, "no such names here"};
  daemon.open();
  daemon.connect(host.target());

  daemon.start("echo x > a; echo y > b", {}, {"*"});

  EXPECT_EQ(daemon.await<model::AttemptCollected>().lost,
            "the list of its files: no such names here");
}

TEST(HostOutputTest, FailsAnAttemptWhoseInputIsNotHere) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());

  daemon.start("true", {{"data", std::string(64, 'a'), false}});
  const auto failed = daemon.await<model::AttemptExited>();
  daemon.start("exit 4");
  const auto next = daemon.await<model::AttemptExited>();

  EXPECT_EQ(failed.end.reason, model::EndReason::kInputFailed);
  EXPECT_EQ(next.end.exit_code, 4);
}

// Bug: each piece behind the one that was refused was answered too, and each answer failed another
// attempt that waited for the same input.
TEST(HostOutputTest, ARefusedInputFailsEachAttemptForItsOwnReason) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.settings.blobs_max = 100'000;
  const std::string data = numbers(100000);
  const std::string sha = crypto::sha256_hex(data);
  daemon.blobs[sha] = data;
  daemon.open();
  daemon.connect(host.target());

  for (int i = 0; i < 3; ++i) daemon.start("true", {{"data", sha, false}});

  for (int i = 0; i < 3; ++i) {
    const auto failed = daemon.await<model::AttemptExited>();
    EXPECT_EQ(failed.end.reason, model::EndReason::kInputFailed);
    EXPECT_THAT(failed.end.text, testing::HasSubstr("this host keeps at most"));
  }
}

// Bug: the job failed where only this host could not store its input.
TEST(HostOutputTest, AHostThatCannotStoreAnInputRefusesTheAttempt) {
  const BootedHost host;
  FakeDaemon daemon(host);
  const std::string data = "an input";
  const std::string sha = crypto::sha256_hex(data);
  daemon.blobs[sha] = data;
  daemon.open();
  daemon.connect(host.target());
  const auto blobs = host.dir() / "agent/blobs";
  ASSERT_TRUE(std::filesystem::remove_all(blobs) > 0) << blobs;
  ASSERT_TRUE(write_file(blobs, "", 0600));

  const auto attempt = daemon.start("true", {{"data", sha, false}});

  const auto refused = daemon.await<model::AttemptRefused>();
  EXPECT_EQ(refused.attempt, attempt);
  EXPECT_TRUE(refused.tried);
  EXPECT_THAT(refused.text, testing::HasSubstr("Not a directory"));
}

// Bug: nothing said that no job can start there.
TEST(HostOutputTest, AHostWhoseFolderIsGoneSaysSoBeforeItRefuses) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.open();
  daemon.connect(host.target());
  ASSERT_TRUE(std::filesystem::remove_all(host.dir() / "agent") > 0);

  const auto attempt = daemon.start("true");

  const auto broken = daemon.await<model::HostBroken>();
  EXPECT_EQ(broken.check, model::kFolderCheck);
  EXPECT_THAT(broken.text, testing::HasSubstr("is gone"));
  EXPECT_EQ(daemon.await<model::AttemptRefused>().attempt, attempt);
}

}  // namespace
}  // namespace hostler::test
