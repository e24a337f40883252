#include <algorithm>

#include "core/gates/gates.h"
#include "tests/unit/dispatch/restored.h"

/// Drivers that die in calls: such calls are made twice, also beyond the daemon's life.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

model::CloudError death(const char* call) {
  auto out = error(CloudErrorClass::kTransient, true);
  out.crash = {.driver = {"bad", "1.0", "file 1"},
               .call = call,
               .ending = "was ended by signal 11",
               .output = "last words"};
  return out;
}

/// The row of a call in which the driver has died twice.
model::GateRecord row_of(CloudOp op, Now now) {
  gates::Gates gates;
  const gates::GateQuery call{.set = "west", .op = op, .instance = {7}};
  for (int n = 0; n < 2; ++n) (void)gates.crashed(call, *death(to_string(op)).crash, now);
  return gates.all().begin()->second.record;
}

model::Restored with(std::vector<model::GateRecord> gates) {
  model::Restored out;
  out.gates = std::move(gates);
  return out;
}

class CrashStoryTest : public testing::Test {
 protected:
  /// The newest row of each gate of crashes that the story has journalled.
  static std::vector<model::GateRecord> rows(const Story& in) {
    std::map<std::string, model::GateRecord> newest;
    for (const auto& change : in.changes) {
      if (const auto* row = model::get_change<model::GateChanged>(change))
        newest[row->record.key] = row->record;
      if (const auto* gone = std::get_if<model::GateOpened>(&change)) newest.erase(gone->key);
    }
    std::vector<model::GateRecord> out;
    for (const auto& [key, row] : newest)
      if (row.cls == CloudErrorClass::kDriverCrashes) out.push_back(row);
    return out;
  }
  /// The driver dies in each create of the time.
  static std::size_t die_in_creates(Story& in, Duration time) {
    std::size_t made = 0;
    for (Duration left = time; left > Duration::zero(); left -= 1s) {
      for (const auto& call : in.all<CreateCall>()) {
        if (call.request->type.name != "small") continue;
        ++made;
        std::erase_if(in.effects, [](const Effect& effect) {
          return std::holds_alternative<CreateCall>(effect);
        });
        in.create_ended(call.instance, death("create"));
        break;
      }
      for (std::size_t lists = in.all<ListCall>().size(); lists > 0; --lists) {
        std::erase_if(in.effects, [](const Effect& effect) {
          return std::holds_alternative<ListCall>(effect);
        });
        in.say(SetListed{"west", in.now.mono, model::ListedInstances{}});
      }
      in.pass(1s);
    }
    return made;
  }
  static DriverLoaded loaded(const char* file) { return {"west", {"bad", "1.0", file}}; }
  std::vector<model::GateRecord> gates() const {
    return story.dispatcher.queries().gates(story.now.mono);
  }

  Story story;
};

TEST_F(CrashStoryTest, ACreateInWhichTheDriverDiesIsMadeTwiceAndOtherTypesGoOn) {
  story.begin();
  (void)story.submit({story.job(2)});

  EXPECT_EQ(die_in_creates(story, 40min), 2U);

  ASSERT_THAT(gates(), SizeIs(1));
  EXPECT_EQ(gates()[0].failures, 2U);
  EXPECT_THAT(story.ledger(), Contains("set west driver_crashed create"));
  EXPECT_THAT(story.ledger(), Contains("set west call_held_back create"));
  story.clear();
  (void)story.submit({story.job(8)});
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1));
  EXPECT_EQ(story.all<CreateCall>()[0].request->type.name, "large");
}

TEST_F(CrashStoryTest, ACrashBeforeARestartCounts) {
  story.begin();
  (void)story.submit({story.job(2)});
  const auto call = story.all<CreateCall>().at(0);
  story.create_ended(call.instance, death("create"));
  const auto known = rows(story);
  ASSERT_THAT(known, SizeIs(1));

  Story next;
  next.now = story.now;
  next.begin(with(known));
  next.say(loaded("file 1"));
  (void)next.submit({next.job(2)});

  EXPECT_EQ(die_in_creates(next, 40min), 1U);
}

TEST_F(CrashStoryTest, AnotherFileOfTheDriverIsAskedAgain) {
  story.begin();
  (void)story.submit({story.job(2)});
  (void)die_in_creates(story, 10min);
  ASSERT_THAT(gates(), SizeIs(1));

  story.say(loaded("file 2"));

  EXPECT_THAT(gates(), IsEmpty());
}

TEST_F(CrashStoryTest, ACrashOfAnEarlierDriverSaysNothingOfTheOneInUse) {
  story.begin();
  (void)story.submit({story.job(2)});
  const auto call = story.all<CreateCall>().at(0);
  story.say(loaded("file 2"));

  story.create_ended(call.instance, death("create"));

  EXPECT_THAT(rows(story), IsEmpty());
}

TEST_F(CrashStoryTest, ASetWhoseListKillsTheDriverIsSuspendedUntilAnAdminOpensItsGate) {
  story.begin();
  for (int n = 0; n < 600; ++n) {
    for (std::size_t lists = story.all<ListCall>().size(); lists > 0; --lists) {
      std::erase_if(story.effects,
                    [](const Effect& effect) { return std::holds_alternative<ListCall>(effect); });
      story.say(SetListed{"west", story.now.mono, tl::unexpected(death("list"))});
    }
    story.pass(1s);
  }
  ASSERT_THAT(gates(), SizeIs(1));
  const auto set = story.dispatcher.queries().sets(story.now).at(0);
  EXPECT_THAT(set.held, HasSubstr("suspended: the driver dies in list, next try "));
  EXPECT_THAT(set.creates_refused, HasSubstr("the set is suspended"));
  EXPECT_THAT(set.conditions, SizeIs(1));
  story.clear();

  EXPECT_TRUE(story.ask(OpenGate{0, "user root", gates()[0].key}));

  EXPECT_THAT(story.all<ListCall>(), SizeIs(1));
}

TEST_F(CrashStoryTest, AnInstanceWhoseDestroyKillsTheDriverStaysWithAnAlarm) {
  auto restored = busy_site();
  story.begin(std::move(restored));
  EXPECT_TRUE(story.ask(KillInstance{0, "user root", {7}, ""}));
  std::size_t made = 0;
  for (int n = 0; n < 600; ++n) {
    for (const auto& call : story.all<DestroyCall>()) {
      ++made;
      story.effects.clear();
      story.say(DestroyEnded{call.instance, death("destroy")});
      break;
    }
    story.pass(1s);
  }

  EXPECT_EQ(made, 2U);
  const auto view = story.dispatcher.queries().instance({7}, story.now);
  ASSERT_TRUE(view);
  EXPECT_THAT(view->conditions, Contains(HasSubstr("may cost money")));
  EXPECT_THAT(story.ledger(), Contains("set west call_held_back destroy"));
}

// Bug: a kill was accepted and not done, and no gate was named.
TEST_F(CrashStoryTest, AHostThatAnAdminKillsNamesTheGateThatHoldsItsEnd) {
  for (const auto op : {CloudOp::kOpen, CloudOp::kDestroy, CloudOp::kList}) {
    Story one;
    auto restored = busy_site();
    restored.gates = {row_of(op, one.now)};
    const std::string key = restored.gates[0].key;
    if (op == CloudOp::kOpen)
      one.restore(std::move(restored));
    else
      one.begin(std::move(restored));
    EXPECT_TRUE(one.ask(KillInstance{0, "user root", {7}, ""}));
    one.pass(1s);

    const auto view = one.dispatcher.queries().instance({7}, one.now);
    ASSERT_TRUE(view);
    EXPECT_THAT(view->conditions, testing::ElementsAre(HasSubstr("hostler gates open \"" + key)))
        << to_string(op);
  }
}

TEST_F(CrashStoryTest, AHostThatAnAdminKillsNamesTheRefusalThatHoldsItsEnd) {
  story.begin(busy_site());
  story.say(SetListed{"west", story.now.mono, tl::unexpected(error(CloudErrorClass::kAuth))});
  EXPECT_TRUE(story.ask(KillInstance{0, "user root", {7}, ""}));

  const auto view = story.dispatcher.queries().instance({7}, story.now);
  ASSERT_TRUE(view);
  ASSERT_THAT(gates(), SizeIs(1));
  EXPECT_THAT(view->conditions,
              testing::ElementsAre(HasSubstr("may cost money: such calls are held back until ")));
  EXPECT_THAT(view->conditions[0], HasSubstr(gates()[0].key));
}

TEST_F(CrashStoryTest, AnAlarmSaysThatNoDescriptorIsLeftOnceAnHour) {
  story.begin();
  auto none = error(CloudErrorClass::kTransient);
  none.no_descriptors = true;
  for (int n = 0; n < 3; ++n) story.say(SetListed{"west", story.now.mono, tl::unexpected(none)});
  std::size_t told = 0;
  for (const auto& record : story.journalled<model::LedgerRecord>())
    told += record.event == model::Event::kNoDescriptors ? 1 : 0;
  EXPECT_EQ(told, 1U);
}

}  // namespace
}  // namespace hostler::dispatch
