#include "core/sources/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace hostler::sources {
namespace {

using namespace std::chrono_literals;

model::MetricSource source(const std::string& name, Duration interval = 15s) {
  model::MetricSource made;
  made.name = name;
  made.kind = model::MetricSource::Kind::kFile;
  made.interval = interval;
  return made;
}

Mono at(Duration since_start) { return Mono(1000s + since_start); }

/// The names of the readings that begin, and the last one's id.
class ScheduleTest : public testing::Test {
 protected:
  std::string due(Duration now) {
    std::string names;
    for (const Started& one : schedule.take_due(at(now))) {
      names += one.source.name + " ";
      last = one.id;
    }
    return names;
  }
  Schedule schedule;
  ReadingId last = 0;
};

TEST_F(ScheduleTest, ReadsEachSourceAtOnceAndThenAtItsInterval) {  // F-W13
  schedule.replace({source("a", 15s), source("b", 60s)}, at(0s));
  EXPECT_EQ(schedule.next(), at(0s));
  EXPECT_EQ(due(0s), "a b ");
  EXPECT_TRUE(schedule.end(1, at(1s)));
  EXPECT_TRUE(schedule.end(2, at(1s)));
  EXPECT_EQ(schedule.next(), at(15s));
  EXPECT_EQ(due(14s), "");
  EXPECT_EQ(due(15s), "a ");
  EXPECT_TRUE(schedule.end(last, at(16s)));
  EXPECT_EQ(schedule.next(), at(30s));
}

TEST_F(ScheduleTest, NeverReadsASourceTwiceAtTheSameTime) {
  schedule.replace({source("a", 1s)}, at(0s));
  EXPECT_EQ(due(0s), "a ");
  EXPECT_EQ(due(4s), "");
}

TEST_F(ScheduleTest, AReadingThatTakesLongLeavesMultiplesOut) {
  schedule.replace({source("a", 15s)}, at(0s));
  EXPECT_EQ(due(0s), "a ");
  EXPECT_TRUE(schedule.end(last, at(44s)));
  EXPECT_EQ(schedule.next(), at(45s));
  EXPECT_EQ(due(45s), "a ");
  EXPECT_TRUE(schedule.end(last, at(60s)));
  EXPECT_EQ(schedule.next(), at(75s));
}

TEST_F(ScheduleTest, ALateThreadMovesNoMultiple) {
  schedule.replace({source("a", 15s)}, at(0s));
  EXPECT_EQ(due(7s), "a ");
  EXPECT_TRUE(schedule.end(last, at(8s)));
  EXPECT_EQ(schedule.next(), at(15s));
}

TEST_F(ScheduleTest, EqualSourcesGoOn) {
  schedule.replace({source("a"), source("b")}, at(0s));
  EXPECT_EQ(due(0s), "a b ");
  EXPECT_TRUE(schedule.end(1, at(1s)));
  EXPECT_TRUE(schedule.replace({source("b"), source("a")}, at(5s)).empty());
  EXPECT_EQ(due(5s), "");
  EXPECT_TRUE(schedule.end(2, at(6s)));
  EXPECT_EQ(schedule.next(), at(15s));
}

TEST_F(ScheduleTest, ChangedAndRemovedSourcesAreNotWaitedFor) {
  schedule.replace({source("a"), source("b"), source("c")}, at(0s));
  EXPECT_EQ(due(0s), "a b c ");
  EXPECT_TRUE(schedule.end(3, at(1s)));
  const auto unwanted = schedule.replace({source("a", 20s)}, at(2s));
  EXPECT_EQ(unwanted, (std::vector<ReadingId>{1, 2}));
  EXPECT_FALSE(schedule.end(1, at(3s)));
  EXPECT_FALSE(schedule.end(2, at(3s)));
  EXPECT_EQ(due(3s), "a ");
  EXPECT_TRUE(schedule.end(last, at(4s)));
}

TEST_F(ScheduleTest, AReadingThatHangsIsReportedOnceAndHoldsItsSourceOnly) {  // F-W5
  schedule.replace({source("a", 2s), source("b", 15s)}, at(0s));
  EXPECT_EQ(due(0s), "a b ");
  EXPECT_TRUE(schedule.end(2, at(1s)));
  EXPECT_TRUE(schedule.take_overdue(at(5s)).empty());
  EXPECT_EQ(schedule.next(), at(6s));
  const auto overdue = schedule.take_overdue(at(6s));
  ASSERT_EQ(overdue.size(), 1U);
  EXPECT_EQ(overdue[0].source.name, "a");
  EXPECT_TRUE(schedule.take_overdue(at(100s)).empty());
  EXPECT_EQ(due(15s), "b ");
  EXPECT_FALSE(schedule.end(1, at(99s)));
  EXPECT_EQ(due(99s), "");
  EXPECT_EQ(due(100s), "a ");
}

TEST_F(ScheduleTest, AReadingThatIsDroppedAfterItsTimeEndsOnceAndItsSourceIsReadAgain) {
  schedule.replace({source("a", 15s)}, at(0s));
  EXPECT_EQ(due(0s), "a ");
  ASSERT_EQ(schedule.take_overdue(at(6s)).size(), 1U);
  EXPECT_EQ(schedule.next(), std::nullopt);
  EXPECT_FALSE(schedule.end(last, at(6s)));
  EXPECT_EQ(schedule.next(), at(15s));
  EXPECT_EQ(due(15s), "a ");
  EXPECT_FALSE(schedule.end(1, at(16s))) << "an end that comes late is not that of the next one";
  EXPECT_EQ(due(30s), "");
}

TEST_F(ScheduleTest, HasNothingToDoWithoutSources) {
  EXPECT_EQ(schedule.next(), std::nullopt);
  schedule.replace({source("a")}, at(0s));
  schedule.replace({}, at(0s));
  EXPECT_EQ(schedule.next(), std::nullopt);
}

}  // namespace
}  // namespace hostler::sources
