#include "core/agent/host/journal/journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "core/agent/host/journal/attempts.h"
#include "core/agent/host/system/sha256.h"
#include "core/base/files.h"
#include "tests/temp_folder.h"
#include "tests/unit/agent/attempts.h"

namespace hostler::agent {
namespace {

End failed_end(std::uint64_t job) {
  End out{id(job), {}, false};
  out.end.exit_code = static_cast<int>(job);
  return out;
}

class JournalTest : public ::testing::Test {
 protected:
  static Attempts reopened() {
    Attempts out;
    Journal journal;
    EXPECT_TRUE(journal.open([&](Record&& record) { out.apply(std::move(record)); }));
    return out;
  }
  test::WorkingFolder folder_;
};

TEST_F(JournalTest, WhatWasAppendedIsFoundAgain) {
  {
    Journal journal;
    ASSERT_TRUE(journal.open([](Record&&) {}));
    ASSERT_TRUE(journal.append(to_record(Opened{"state", 5})));
    for (const int job : {1, 2, 7}) ASSERT_TRUE(journal.append(to_record(begin(job))));
    ASSERT_TRUE(append_end(journal.fd(), failed_end(2)));
    ASSERT_TRUE(journal.append(to_record(Forget{id(1)})));
  }

  Attempts attempts = reopened();

  EXPECT_EQ(attempts.state_id, "state");
  EXPECT_EQ(attempts.last_sequence, 7u);
  EXPECT_EQ(attempts.all().size(), 2u);
  ASSERT_TRUE(attempts.find(id(2)) && attempts.find(id(2))->end);
  EXPECT_EQ(attempts.find(id(2))->end->exit_code, 2);
  EXPECT_FALSE(attempts.find(id(7))->end);
}

TEST_F(JournalTest, TheCardsOfAnAttemptAreFoundAgain) {
  Begin with_cards = begin(1);
  with_cards.cards = {"GPU-1", "GPU-2"};
  with_cards.files = {"/dev/nvidia0", "/dev/nvidia1"};
  {
    Journal journal;
    ASSERT_TRUE(journal.open([](Record&&) {}));
    ASSERT_TRUE(journal.append(to_record(with_cards)));
  }
  Attempts attempts = reopened();
  ASSERT_TRUE(attempts.find(id(1)));
  EXPECT_EQ(attempts.find(id(1))->begin.cards, with_cards.cards);
  EXPECT_EQ(attempts.find(id(1))->begin.files, with_cards.files);
}

// Written by agents before there were cards; one of them reads an attempt without cards, too.
TEST_F(JournalTest, AJournalOfAnEarlierAgentIsRead) {
  const char kRecord[] =
      "\x68\x61\x6a\x6c\x36\x00\x00\x00\x2a\x23\x5c\xdd"
      "\x00\x07\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00"
      "\x04\x00\x00\x00"
      "boot\x01\x00\x00\x00\x00\x00\x00\x00\x00"
      "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00";
  const std::string record(kRecord, sizeof kRecord - 1);
  EXPECT_EQ(to_record(begin(7)), record);
  ASSERT_TRUE(write_file("journal.1", record, 0600));

  Attempts attempts = reopened();

  ASSERT_TRUE(attempts.find(id(7)));
  EXPECT_EQ(attempts.find(id(7))->begin.output_tail_max, 2U);
  EXPECT_TRUE(attempts.find(id(7))->begin.cards.empty());
}

TEST_F(JournalTest, ATornRecordLosesNothingBehindIt) {
  {
    Journal journal;
    ASSERT_TRUE(journal.open([](Record&&) {}));
    ASSERT_TRUE(journal.append(to_record(begin(1))));
    ASSERT_TRUE(journal.append(to_record(begin(2)).substr(0, 20)));
    ASSERT_TRUE(journal.append(to_record(begin(3))));
    ASSERT_TRUE(journal.append(to_record(begin(4)).substr(0, 5)));
  }

  Attempts attempts = reopened();

  EXPECT_TRUE(attempts.find(id(1)));
  EXPECT_FALSE(attempts.find(id(2)));
  EXPECT_TRUE(attempts.find(id(3)));
}

TEST_F(JournalTest, RecordsAreReadWholeWhereverTheReadsEnd) {
  {
    Journal journal;
    ASSERT_TRUE(journal.open([](Record&&) {}));
    for (int job = 1; job <= 100; ++job) {
      ASSERT_TRUE(journal.append(to_record(begin(job))));
      End big = failed_end(job);
      big.end.stdout_inline = std::string(3000 + static_cast<std::size_t>(job), 'x');
      ASSERT_TRUE(append_end(journal.fd(), big));
    }
  }

  Attempts attempts = reopened();

  ASSERT_EQ(attempts.all().size(), 100u);
  for (const auto& [attempt, known] : attempts.all()) {
    ASSERT_TRUE(known.end) << attempt.text();
    EXPECT_EQ(known.end->stdout_inline.size(), 3000 + attempt.work.value);
  }
}

TEST_F(JournalTest, EndsInAnOldFileAreReadUntilItIsDropped) {
  Journal journal;
  Attempts attempts;
  const auto apply = [&](Record&& record) { attempts.apply(std::move(record)); };
  ASSERT_TRUE(journal.open(apply));
  ASSERT_TRUE(journal.append(to_record(begin(1))));
  journal.read_new(apply);
  const int old = ::fcntl(journal.fd(), F_DUPFD_CLOEXEC, 3);

  ASSERT_TRUE(journal.rotate(attempts.snapshot()));
  ASSERT_TRUE(append_end(old, failed_end(1)));
  journal.read_new(apply);
  ::close(old);

  ASSERT_TRUE(attempts.find(id(1))->end);
  EXPECT_EQ(attempts.take_ended().size(), 1u);
  journal.drop_before(journal.number());
  EXPECT_EQ(journal.oldest(), journal.number());
  EXPECT_TRUE(reopened().find(id(1)));
}

TEST(Sha256Test, AgreesWithTheStandard) {
  EXPECT_EQ(Sha256().finish_hex(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256().update("abc").finish_hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 many;
  for (int i = 0; i < 1'000'000; ++i) many.update("a");
  EXPECT_EQ(many.finish_hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace hostler::agent
