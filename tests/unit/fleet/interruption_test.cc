// Several sources tell of one interruption, in any order, and say more or less of it.
#include <gtest/gtest.h>

#include "tests/unit/fleet/instances.h"

namespace hostler::fleet {
namespace {

using model::InterruptionAction;
using model::NoticeSource;

model::Notice notice_of(NoticeSource source, InterruptionAction action, Duration in = 2min) {
  return {.source = source, .action = action, .noticed = {}, .at = at(in).wall, .text = ""};
}
const model::Notice kOfList = notice_of(NoticeSource::kList, InterruptionAction::kNotSaid);
const model::Notice kOfDriver = notice_of(NoticeSource::kDriver, InterruptionAction::kTerminate);

struct InterruptionStepTest : testing::Test {
  Outcome tell(const model::Notice& notice) { return noticed(host, notice, pool(), at(0s)); }
  Instance host = instance_in(InstanceState::kBusy);
};

TEST_F(InterruptionStepTest, AListThatCannotSayTheActionAndTheWatchThatSaysItAreOneInterruption) {
  EXPECT_EQ(tell(kOfList).event, Event::kInterruption);
  const Outcome second = tell(kOfDriver);
  EXPECT_FALSE(second.event);
  EXPECT_TRUE(second.changed) << "the action is known now";
  EXPECT_EQ(host.record.interruption->action, InterruptionAction::kTerminate);
}

TEST_F(InterruptionStepTest, ALaterListDoesNotTakeTheActionAwayAlsoIfItsTimeIsALittleEarlier) {
  EXPECT_EQ(tell(kOfDriver).event, Event::kInterruption);
  EXPECT_FALSE(tell(notice_of(NoticeSource::kList, InterruptionAction::kNotSaid, 2min - 2s)).event);
  EXPECT_EQ(host.record.interruption->action, InterruptionAction::kTerminate);
  EXPECT_EQ(host.record.interruption->at, at(2min - 2s).wall);
}

TEST_F(InterruptionStepTest, ASourceThatSaysTheActionLaterTellsNothingNew) {
  (void)tell(notice_of(NoticeSource::kHost, InterruptionAction::kNotSaid));
  EXPECT_FALSE(tell(notice_of(NoticeSource::kHost, InterruptionAction::kStop)).event);
  EXPECT_EQ(host.record.interruption->action, InterruptionAction::kStop);
}

TEST_F(InterruptionStepTest, AnotherActionIsNews) {
  (void)tell(kOfDriver);
  EXPECT_EQ(tell(notice_of(NoticeSource::kDriver, InterruptionAction::kRestart)).event,
            Event::kInterruption);
}

}  // namespace
}  // namespace hostler::fleet
