#include "core/dispatch/handlers/boot_consoles.h"

#include "tests/unit/dispatch/restored.h"

/// The consoles of hosts that do not come up.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class BootConsolesTest : public testing::Test {
 protected:
  void begin(bool has_console = true) {
    story.restore();
    model::SetInfo info;
    info.list_consistency = 100ms;
    info.has_console = has_console;
    story.say(SetOpened{"west", info});
  }
  /// A host whose init command fails.
  InstanceId failed() {
    (void)story.submit({story.job(8)});
    const auto id = story.all<CreateCall>().back().instance;
    story.say(CreateSeen{id, story.seen(id)});
    story.create_ended(id);
    story.host(id, model::HostInitFailed{"status 100", "E: no such package", false});
    return id;
  }
  static model::ConsoleText text(std::string bytes) {
    return {.offset = 7, .bytes = std::move(bytes), .as_of = {}};
  }
  std::string kept(InstanceId id) const {
    for (const auto& one : story.journalled<model::LedgerRecord>())
      if (one.event == model::Event::kConsole && one.subject == id.text()) return one.reason;
    return "";
  }

  Story story;
};

TEST_F(BootConsolesTest, TheConsoleOfAHostThatDidNotComeUpIsKeptBeforeItsDestroyIsSent) {
  begin();
  const auto id = failed();
  ASSERT_THAT(story.all<ConsoleCall>(), SizeIs(1));
  const auto call = story.all<ConsoleCall>().at(0);
  EXPECT_EQ(call.query.id, "i-" + std::to_string(id.value));
  EXPECT_EQ(call.query.bytes_max, 4096U);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty()) << "first its console";

  story.say(ConsoleRead{id, text("[  OK  ] mounted\r\n\npanic\n")});

  EXPECT_EQ(kept(id), "[  OK  ] mounted | panic");
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
}

TEST_F(BootConsolesTest, TheDestroyGoesOnWithoutAnAnswerAndALateOneIsKept) {
  begin();
  const auto id = failed();
  story.pass(9s);
  EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
  story.pass(2s);
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));

  story.say(ConsoleRead{id, text("late")});

  EXPECT_EQ(kept(id), "late");
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1)) << "one is under way";
  story.say(ConsoleRead{id, text("again")});
  EXPECT_THAT(kept(id), Not(HasSubstr("again")));
}

TEST_F(BootConsolesTest, TheDestroyGoesOnAfterAnErrorAndWhereTheDriverCannotTell) {
  begin();
  const auto id = failed();
  story.say(ConsoleRead{id, tl::unexpected(error(CloudErrorClass::kTransient))});
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
  EXPECT_EQ(kept(id), "");

  story = Story();
  begin(false);
  (void)failed();
  EXPECT_THAT(story.all<ConsoleCall>(), IsEmpty());
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
}

TEST_F(BootConsolesTest, ARestartDoesNotWaitForTheConsole) {
  begin();
  const auto id = failed();
  auto record = story.record(id);
  ASSERT_EQ(record.state, InstanceState::kTerminating);
  model::Restored restored;
  restored.instances.push_back({record, nullptr, false});
  story = Story();
  story.restore(std::move(restored));
  model::SetInfo info;
  info.has_console = true;
  story.say(SetOpened{"west", info});
  story.pass(3s);
  EXPECT_THAT(story.all<ConsoleCall>(), IsEmpty());
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
}

TEST_F(BootConsolesTest, AHostThatAnAdminKillsIsDestroyedAtOnce) {
  begin();
  (void)story.submit({story.job(8)});
  const auto id = story.all<CreateCall>().back().instance;
  story.say(CreateSeen{id, story.seen(id)});
  story.create_ended(id);
  (void)story.ask(KillInstance{0, "ann", id, ""});
  EXPECT_THAT(story.all<ConsoleCall>(), IsEmpty());
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(1));
}

TEST_F(BootConsolesTest, OfManyHostsThatFailTogetherAFewAreAskedAndTheOthersDestroyed) {
  begin();
  std::vector<model::WorkItem> jobs(8, story.job(8));
  (void)story.submit(std::move(jobs));
  const auto creates = story.all<CreateCall>();
  ASSERT_THAT(creates, SizeIs(8));
  for (const auto& call : creates) story.say(CreateSeen{call.instance, story.seen(call.instance)});
  for (const auto& call : creates) story.create_ended(call.instance);
  for (const auto& call : creates)
    story.host(call.instance, model::HostInitFailed{"status 1", "", false});
  EXPECT_THAT(story.all<ConsoleCall>(), SizeIs(4));
  EXPECT_THAT(story.all<DestroyCall>(), SizeIs(4));
}

TEST_F(BootConsolesTest, ADriverThatDiesTwiceInTheCallIsNotAskedAgain) {
  begin();
  for (int n = 0; n < 3; ++n) {
    const auto id = failed();
    auto death = error(CloudErrorClass::kTransient, true);
    death.crash = {.driver = {"bad", "1.0", ""}, .call = "console", .ending = "died", .output = ""};
    story.say(ConsoleRead{id, tl::unexpected(death)});
    for (const auto& gate : story.dispatcher.queries().gates(story.now.mono))
      if (gate.cls == CloudErrorClass::kBoot) (void)story.ask(OpenGate{0, "ann", gate.key});
    story.list({});
  }
  EXPECT_THAT(story.all<ConsoleCall>(), SizeIs(2));
  EXPECT_THAT(story.ledger(), Contains("set west call_held_back console"));
}

TEST_F(BootConsolesTest, TheBootGateSaysWhereTheConsoleIsShown) {
  begin();
  InstanceId last;
  for (int n = 0; n < 3; ++n) {
    last = failed();
    story.say(ConsoleRead{last, text("kernel panic")});
  }
  const auto gates = story.dispatcher.queries().gates(story.now.mono);
  ASSERT_THAT(gates, Not(IsEmpty()));
  EXPECT_THAT(gates[0].message, HasSubstr("; hostler why " + last.text() + " shows"));
  EXPECT_THAT(gates[0].message, Not(HasSubstr("kernel panic"))) << "everybody reads gates";
}

TEST(EndOfConsoleTest, IsOnePrintableLineOfBoundedLength) {
  EXPECT_EQ(end_of_console("", 100), "");
  EXPECT_EQ(end_of_console("\n \r\n\t\n", 100), "");
  EXPECT_EQ(end_of_console("[\x1b[0;32m  OK  \x1b[0m] up\r\nlogin: ", 100), "[  OK  ] up | login:");
  EXPECT_EQ(end_of_console("a\x07\x1b[", 100), "a\\u0007");
  EXPECT_EQ(end_of_console("12345\n67890", 9), "5 | 67890");
  EXPECT_EQ(end_of_console("\xc3\xa4\xc3\xa4", 3), "\xc3\xa4");
  EXPECT_EQ(end_of_console(std::string(5000, '\xff'), 4096).size(), 4096U);
}

// Only then its console is believed: later, work may have written there.
TEST(ConsoleTargetTest, AnInstanceIsUntouchedUntilItIsReadyAndAnAdoptedOneNeverIs) {
  Story story;
  story.begin();
  (void)story.submit({story.job(2)});
  const auto id = story.all<CreateCall>().back().instance;
  story.say(CreateSeen{id, story.seen(id)});
  ASSERT_THAT(story.commands<model::ConnectHost>(), SizeIs(1));
  EXPECT_TRUE(story.commands<model::ConnectHost>()[0].target.is_untouched);
  story.boot(id);
  story.host(id, model::HostLost{"connection reset"});
  auto moved = story.seen(id);
  moved.address = "10.0.9.9";
  auto stranger = story.seen(id);
  stranger.id = "i-99";
  stranger.idempotency_key = "of another store";
  stranger.address = "10.0.9.10";
  story.clear();
  story.list({moved, stranger});
  const auto again = story.commands<model::ConnectHost>();
  ASSERT_THAT(again, SizeIs(2));
  EXPECT_FALSE(again[0].target.is_untouched);
  EXPECT_FALSE(again[1].target.is_untouched);
}

}  // namespace
}  // namespace hostler::dispatch
