#include "core/agent/host/server/card_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <set>
#include <string>

#include "tests/temp_folder.h"

namespace hostler::agent {
namespace {

constexpr std::int64_t kMinute = 60'000'000, kSoon = 10'000'000;
constexpr std::int64_t kStart = 1'000'000'000;
const CardRoots kNoRoots{"/nowhere", "/nowhere", "/nowhere", "/nowhere"};

class CardReaderTest : public ::testing::Test {
 protected:
  void configure(const std::string& command, std::int64_t now = kStart) {
    Configure configure;
    configure.cards_command = command;
    reader_.configure(configure, model::CardGuard::kOwners, now);
  }
  pid_t running() const {
    std::set<pid_t> pids;
    reader_.add_pids(pids);
    return pids.empty() ? 0 : *pids.begin();
  }
  /// Waits until the tool that runs has ended, and tells the reader.
  void reap(std::int64_t now) {
    const pid_t pid = running();
    ASSERT_GT(pid, 0);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(reader_.on_exit(pid, status, now));
  }
  std::optional<Cards> read(std::int64_t now) {
    reader_.tick(now);
    reap(now);
    return reader_.take();
  }

  test::TempFolder folder_;
  CardReader reader_{kNoRoots, folder_.path().string()};
};

TEST_F(CardReaderTest, TellsEachReadingAlsoOneLikeTheLast) {
  const auto says = [&](const char* text) { (void)folder_.put("cards", text); };
  says("one");
  configure("cat " + (folder_ / "cards").string());
  EXPECT_EQ(reader_.due(), kStart);
  const auto first = read(kStart);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->tool, Cards::Tool::kCommand);
  EXPECT_EQ(first->text, "one");
  EXPECT_EQ(first->status, 0);
  EXPECT_EQ(first->guard, model::CardGuard::kOwners);
  EXPECT_FALSE(reader_.take()) << "once";

  EXPECT_EQ(reader_.due(), kStart + kMinute);
  reader_.tick(kStart + kMinute - 1);
  EXPECT_EQ(running(), 0);
  EXPECT_EQ(read(kStart + kMinute)->text, "one");
  says("two");
  EXPECT_EQ(read(kStart + 2 * kMinute)->text, "two");
  configure("cat " + (folder_ / "cards").string());
  EXPECT_EQ(read(kStart)->text, "two") << "the first one in any case";
}

TEST_F(CardReaderTest, AFailureIsToldWithItsStatusAndWords) {
  configure("echo no driver >&2; exit 9");
  const auto failed = read(kStart);
  EXPECT_EQ(failed->status, 9);
  EXPECT_EQ(failed->text, "no driver\n");
  configure("echo words; echo noise >&2; kill -9 $$");
  const auto killed = read(kStart);
  EXPECT_EQ(killed->status, 137);
  EXPECT_EQ(killed->text, "words\n");
}

TEST_F(CardReaderTest, ErrorsOfNvidiaSmiComeFirstAsTheyNameLostCards) {
  (void)folder_.put("nvidia-smi", "#!/bin/sh\necho 'row'; printf 'GPU3 is lost' >&2\n", 0755);
  configure("");
  const auto told = read(kStart);
  EXPECT_EQ(told->tool, Cards::Tool::kNvidia);
  EXPECT_EQ(told->text, "GPU3 is lost\nrow\n");
}

TEST_F(CardReaderTest, WithoutAToolTheAnswerComesAtOnce) {
  configure("");
  reader_.tick(kStart);
  EXPECT_EQ(running(), 0);
  EXPECT_EQ(reader_.take()->tool, Cards::Tool::kNone);
  (void)folder_.put("rocm-smi", "#!/bin/sh\necho '{}'\n", 0755);
  EXPECT_EQ(read(kStart + kMinute)->tool, Cards::Tool::kRocm) << "it was installed";
}

TEST_F(CardReaderTest, KeepsNoMoreThanAMessageCarries) {
  configure("head -c 65536 /dev/zero");
  EXPECT_FALSE(read(kStart)->cut);
  configure("head -c 65537 /dev/zero");
  const auto told = read(kStart);
  EXPECT_TRUE(told->cut);
  EXPECT_EQ(told->text.size(), kCardsTextMax);
}

TEST_F(CardReaderTest, AToolThatPrintsWithoutEndIsKilled) {
  configure("cat /dev/zero");
  reader_.tick(kStart);
  reader_.tick(reader_.due());
  EXPECT_TRUE(reader_.take()->timed_out);
  reap(kStart);
}

TEST_F(CardReaderTest, AToolThatHangsIsKilledWithWhatItHasStarted) {
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  configure("echo part; (echo up; exec sleep 1000) > " + fifo + " & wait");
  reader_.tick(kStart);
  std::ifstream child(fifo);
  std::string line;
  ASSERT_TRUE(std::getline(child, line));

  reader_.tick(reader_.due());

  const auto told = reader_.take();
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->timed_out);
  EXPECT_EQ(told->text, "part\n");
  EXPECT_FALSE(std::getline(child, line)) << "it has ended, too";
  reap(kStart);
  EXPECT_FALSE(reader_.take()) << "its end is no reading";
}

TEST_F(CardReaderTest, NeverReadsTwiceAtOnce) {
  configure("sleep 1000");
  reader_.tick(kStart);
  const pid_t first = running();
  reader_.tick(reader_.due());
  EXPECT_TRUE(reader_.take()->timed_out);
  // It was killed and is not gone: the kernel may not be able to end it.
  for (std::int64_t now = kStart; now < kStart + 5 * kMinute; now += kSoon) {
    reader_.tick(now);
    EXPECT_EQ(running(), first);
  }
  reap(kStart + 5 * kMinute);
  reader_.tick(kStart + 6 * kMinute);
  EXPECT_NE(running(), 0);
  reader_.stop();
  reap(kStart);
}

TEST_F(CardReaderTest, NewSettingsDropTheReadingThatRuns) {
  configure("sleep 1000");
  reader_.tick(kStart);
  const pid_t first = running();
  configure("echo new");
  reader_.tick(kStart);
  EXPECT_EQ(running(), first);
  reap(kStart);
  EXPECT_FALSE(reader_.take());
  EXPECT_EQ(read(kStart)->text, "new\n");
}

TEST_F(CardReaderTest, NewSettingsAreAnsweredThoughAnOldToolDoesNotEnd) {
  configure("sleep 1000");
  reader_.tick(kStart);
  configure("echo new");
  EXPECT_EQ(reader_.due(), kStart + kSoon);
  reader_.tick(reader_.due());
  EXPECT_TRUE(reader_.take()->timed_out);
  reap(kStart);
}

TEST_F(CardReaderTest, ReadsNothingWhileItIsStopped) {
  configure("sleep 1000");
  reader_.tick(kStart);
  reader_.stop();
  EXPECT_EQ(reader_.due(), INT64_MAX);
  reader_.tick(kStart + kMinute);
  reap(kStart + kMinute);
  reader_.tick(kStart + 2 * kMinute);
  EXPECT_EQ(running(), 0);
  EXPECT_FALSE(reader_.take());
}

TEST_F(CardReaderTest, OtherChildrenAreNotItsOwn) {
  configure("echo");
  reader_.tick(kStart);
  EXPECT_FALSE(reader_.on_exit(running() + 1, 0, kStart));
  reap(kStart);
  EXPECT_FALSE(reader_.on_exit(1, 0, kStart));
}

}  // namespace
}  // namespace hostler::agent
