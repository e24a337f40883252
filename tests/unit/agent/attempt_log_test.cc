#include "core/agent/host/journal/attempt_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/temp_folder.h"
#include "tests/unit/agent/attempts.h"

namespace hostler::agent {
namespace {

End end(std::uint64_t job) { return {id(job), {}, false}; }

class AttemptLogTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(log_.open()); }
  static std::size_t journal_files() {
    std::size_t out = 0;
    for (const auto& entry : std::filesystem::directory_iterator("."))
      if (entry.path().filename().string().starts_with("journal.")) ++out;
    return out;
  }

  test::WorkingFolder folder_;
  AttemptLog log_;
};

TEST_F(AttemptLogTest, TheNextServerFindsStateIdSequenceAndAttempts) {
  log_.rotate();
  ASSERT_TRUE(log_.begin(begin(1)));
  ASSERT_TRUE(log_.begin(begin(2)));
  log_.end(end(1));
  EXPECT_EQ(log_.forget(id(2)).begin.sequence, 2U);

  AttemptLog next;
  ASSERT_TRUE(next.open());

  EXPECT_NE(next.state_id(), "");
  EXPECT_EQ(next.state_id(), log_.state_id());
  EXPECT_EQ(next.last_sequence(), 2U);
  EXPECT_EQ(next.all().size(), 1U);
  ASSERT_TRUE(next.find(id(1)));
  EXPECT_TRUE(next.find(id(1))->end);
}

TEST_F(AttemptLogTest, AnEndIsReturnedOnceWhoeverWroteIt) {
  ASSERT_TRUE(log_.begin(begin(1)));
  ASSERT_TRUE(log_.begin(begin(2)));
  ASSERT_TRUE(append_end(log_.fd(), end(1)));  // as a shim does
  log_.end(end(2));

  EXPECT_EQ(log_.take_ended(), (std::set<model::AttemptId>{id(1), id(2)}));
  EXPECT_EQ(log_.take_ended(), std::set<model::AttemptId>{});
}

TEST_F(AttemptLogTest, AnEndHasToBeSyncedUntilItIsAcknowledged) {
  ASSERT_TRUE(log_.begin(begin(1)));
  EXPECT_EQ(log_.due(), INT64_MAX);
  log_.end(end(1));
  (void)log_.take_ended();
  EXPECT_NE(log_.due(), INT64_MAX);

  (void)log_.forget(id(1));

  EXPECT_EQ(log_.due(), INT64_MAX);
}

TEST_F(AttemptLogTest, AnOldFileStaysWhileAShimMayWriteToIt) {
  ASSERT_TRUE(log_.begin(begin(1)));
  const int inherited = ::fcntl(log_.fd(), F_DUPFD_CLOEXEC, 3);
  log_.rotate();
  EXPECT_EQ(journal_files(), 2U);

  ASSERT_TRUE(append_end(inherited, end(1)));
  ::close(inherited);
  EXPECT_EQ(log_.take_ended().size(), 1U);
  log_.rotate();

  EXPECT_EQ(journal_files(), 1U);
  AttemptLog next;
  ASSERT_TRUE(next.open());
  ASSERT_TRUE(next.find(id(1)));
  EXPECT_TRUE(next.find(id(1))->end);
}

TEST_F(AttemptLogTest, AnAttemptWithAnUnknownEndIsNotRunning) {
  ASSERT_TRUE(log_.begin(begin(1)));
  EXPECT_EQ(log_.find(id(1))->phase(), Phase::kRunning);

  log_.set_unknown_end(id(1));

  EXPECT_EQ(log_.find(id(1))->phase(), Phase::kUnknownEnd);
}

}  // namespace
}  // namespace hostler::agent
