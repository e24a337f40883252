#include <algorithm>

#include "tests/unit/dispatch/restored.h"

/// The account and the region that a set's cloud reports.
namespace hostler::dispatch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

model::SetInfo info(const std::string& account, const std::string& region = "eu") {
  model::SetInfo out;
  out.account_id = account;
  out.region = region;
  return out;
}

/// A job runs on a host of set west, which is in account a1, region eu.
model::Restored known_site() {
  auto out = busy_site();
  out.accounts = {{"west", "a1", "eu"}};
  return out;
}

class AccountTest : public testing::Test {
 protected:
  void opened(const model::SetInfo& info) { story.say(SetOpened{"west", info}); }
  model::SetView view() const { return story.dispatcher.queries().sets().at(0); }
  Result<std::vector<WorkId>> accept(const std::string& set = "west") {
    return story.ask(AcceptAccount{0, "user root", set});
  }
  /// No call that could change the cloud, and none that would be believed.
  void expect_no_calls() const {
    EXPECT_THAT(story.all<ListCall>(), IsEmpty());
    EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
    EXPECT_THAT(story.all<DestroyCall>(), IsEmpty());
    EXPECT_THAT(story.all<TagsCall>(), IsEmpty());
    EXPECT_THAT(story.all<PowerCall>(), IsEmpty());
    EXPECT_THAT(story.all<PricesCall>(), IsEmpty());
  }

  Story story;
};

TEST_F(AccountTest, IsStoredAtTheFirstOpenBeforeAnyInstance) {
  story.restore();
  (void)story.submit({story.job()});
  story.clear();

  opened(info("a1"));

  EXPECT_THAT(story.journalled<model::SetAccount>(),
              ElementsAre(model::SetAccount{"west", "a1", "eu"}));
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1));
  const auto is_account = [](const model::Change& change) {
    return std::holds_alternative<model::SetAccount>(change);
  };
  const auto is_instance = [](const model::Change& change) {
    return model::get_change<model::InstanceChanged>(change) != nullptr;
  };
  EXPECT_LT(std::ranges::find_if(story.changes, is_account),
            std::ranges::find_if(story.changes, is_instance));
  EXPECT_EQ(view().account, "a1");
  EXPECT_EQ(view().region, "eu");
}

TEST_F(AccountTest, TheSameAccountAtARestartOpensTheSetAndStoresNothing) {
  story.restore(known_site());
  opened(info("a1"));
  EXPECT_TRUE(view().open);
  EXPECT_THAT(story.journalled<model::SetAccount>(), IsEmpty());
}

// Bug: with credentials of another account, the lists of that account ended all jobs of the set as
// host_lost, and its hosts were created anew there.
TEST(SetAccountTest, AnotherOneAtARestartKeepsTheSetClosedAndItsJobsRunning) {
  for (const auto& reported : {info("b2"), info("a1", "us"), info("b2", "")}) {
    Story story;
    story.restore(known_site());
    story.clear();
    (void)story.submit({story.job()});
    story.say(SetOpened{"west", reported});

    const auto view = story.dispatcher.queries().sets().at(0);
    EXPECT_FALSE(view.open);
    EXPECT_THAT(view.problem, AllOf(HasSubstr("account 'a1', region 'eu'"),
                                    HasSubstr("'" + reported.account_id + "'"),
                                    HasSubstr("hostler sets accept-account west")));
    ASSERT_TRUE(view.reported);
    EXPECT_EQ(view.reported->account, reported.account_id);
    EXPECT_EQ(view.reported->region, reported.region);
    EXPECT_THAT(story.ledger(), Contains("set west account_differs").Times(1));
    EXPECT_THAT(story.all<ListCall>(), IsEmpty());
    EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
    EXPECT_THAT(story.all<UseSet>(), IsEmpty());
    EXPECT_THAT(story.journalled<model::SetAccount>(), IsEmpty());

    story.ready({7}, {{{{5}, 1}, model::AttemptPhase::kRunning}});
    EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kBusy);
    story.exited({7}, {5});
    EXPECT_EQ(story.record(WorkId{5}).state, WorkState::kSucceeded);
  }
}

TEST_F(AccountTest, IsAskedForAgainMoreAndMoreSeldomAndReportedOnce) {
  story.restore(known_site());
  std::vector<std::size_t> asked;
  for (int n = 0; n < 8; ++n) {
    opened(info("b2"));
    story.clear();
    story.pass(30s);
    asked.push_back(story.all<OpenSet>().size());
    story.pass(1min);
    EXPECT_THAT(story.all<OpenSet>(), SizeIs(1));
  }
  EXPECT_EQ(asked.front(), 1U);
  EXPECT_EQ(asked.back(), 0U);
  story.clear();

  opened(info("b2"));
  EXPECT_THAT(story.ledger(), IsEmpty()) << "it is known";
  opened(info("c3"));
  EXPECT_THAT(story.ledger(), ElementsAre("set west account_differs")) << "this one is not";
  story.clear();

  opened(info("a1"));
  EXPECT_TRUE(view().open);
  EXPECT_FALSE(view().reported);
  EXPECT_EQ(view().problem, "");
  EXPECT_THAT(story.all<ListCall>(), SizeIs(1));
  ASSERT_THAT(story.all<UseSet>(), SizeIs(1));
  EXPECT_TRUE(story.all<UseSet>()[0].usable);
}

TEST_F(AccountTest, AnAdminAcceptsAnotherOneAndOpensTheSet) {
  story.restore(known_site());
  EXPECT_EQ(accept().error().code, Errc::kConflict) << "nothing is reported yet";
  EXPECT_EQ(accept("east").error().code, Errc::kNotFound);
  opened(info("b2", "us"));
  story.clear();

  EXPECT_TRUE(accept());

  EXPECT_TRUE(view().open);
  EXPECT_EQ(view().account, "b2");
  EXPECT_THAT(story.journalled<model::SetAccount>(),
              ElementsAre(model::SetAccount{"west", "b2", "us"}));
  EXPECT_THAT(story.ledger(), ElementsAre("set west account_accepted", "set west opened"));
  EXPECT_THAT(story.all<ListCall>(), SizeIs(1));
  EXPECT_EQ(accept().error().code, Errc::kConflict);
}

TEST_F(AccountTest, AnEmptyTextIsNotKnownSoItIsNoDifferenceAndReplacesNothing) {
  story.restore();
  opened(info("", ""));
  EXPECT_TRUE(view().open);
  EXPECT_THAT(story.journalled<model::SetAccount>(), IsEmpty());

  Story later;
  auto restored = known_site();
  restored.accounts = {{"west", "a1", ""}};
  later.restore(restored);
  later.say(SetOpened{"west", info("", "eu")});
  EXPECT_TRUE(later.dispatcher.queries().sets()[0].open);
  EXPECT_THAT(later.journalled<model::SetAccount>(),
              ElementsAre(model::SetAccount{"west", "a1", "eu"}));
}

TEST_F(AccountTest, IsAskedForAgainByAReloadAndClosesAnOpenSet) {
  story.restore(known_site());
  opened(info("a1"));
  story.ready({7}, {{{{5}, 1}, model::AttemptPhase::kRunning}});
  story.clear();
  story.say(PolicyChanged{small_site()});
  ASSERT_THAT(story.all<OpenSet>(), SizeIs(1));
  EXPECT_TRUE(view().open) << "until the answer is here";
  story.clear();
  opened(info("a1"));
  EXPECT_THAT(story.changes, IsEmpty()) << "nothing is new";

  story.say(PolicyChanged{small_site()});
  story.clear();
  opened(info("b2"));

  EXPECT_FALSE(view().open);
  ASSERT_THAT(story.all<UseSet>(), SizeIs(1));
  EXPECT_FALSE(story.all<UseSet>()[0].usable);
  EXPECT_THAT(story.ledger(), ElementsAre("set west account_differs"));
  story.list({});  // Those asked for before the set was closed.
  story.list({});
  EXPECT_THAT(story.commands<model::DisconnectHost>(), IsEmpty());
  EXPECT_EQ(story.state(InstanceId{7}), InstanceState::kBusy);
  EXPECT_THAT(view().problem, HasSubstr("'b2'"));
}

TEST_F(AccountTest, AListThatWasSentBeforeTheSetWasClosedIsNeverBelieved) {
  story.restore(known_site());
  opened(info("a1"));
  const Mono sent = story.now.mono;
  story.pass(1s);
  story.say(PolicyChanged{small_site()});
  opened(info("b2"));
  story.pass(2s);
  opened(info("a1"));
  ASSERT_TRUE(view().open);
  story.clear();
  story.say(SetListed{"west", sent, model::ListedInstances{}});
  EXPECT_THAT(story.changes, IsEmpty());
  EXPECT_THAT(story.all<ListCall>(), SizeIs(1)) << "instead of it";
}

TEST_F(AccountTest, AnErrorAtAReloadLeavesAnOpenSetOpen) {
  story.restore(known_site());
  opened(info("a1"));
  story.say(PolicyChanged{small_site()});
  story.say(SetOpened{"west", tl::unexpected(error(CloudErrorClass::kTransient))});
  EXPECT_TRUE(view().open);
}

// ---- a driver that was started beside the one in use -------------------------------------------

class SuccessorTest : public AccountTest {
 protected:
  SuccessorTest() {
    story.restore(known_site());
    opened(info("a1"));
    story.clear();
  }
  void succeeded_by(std::uint64_t driver, const model::SetInfo& info) {
    story.say(SuccessorOpened{"west", info, driver});
  }
  /// Without the changes that an effect follows, it may not leave.
  [[nodiscard]] std::vector<std::uint64_t> used() const {
    std::vector<std::uint64_t> out;
    for (const auto& effect : story.all<UseDriver>()) out.push_back(effect.driver);
    return out;
  }
};

TEST_F(SuccessorTest, OfTheSameAccountIsUsedAndAskedForAllAgain) {
  auto richer = info("a1");
  richer.has_price_history = true;
  succeeded_by(1, richer);
  EXPECT_THAT(used(), ElementsAre(1));
  EXPECT_TRUE(view().open);
  EXPECT_THAT(story.all<UseSet>(), IsEmpty()) << "it was open before";
  EXPECT_THAT(story.all<PricesCall>(), SizeIs(testing::Ge(1)));
  EXPECT_THAT(story.all<QuotaGroupCall>(), SizeIs(testing::Ge(1)));
}

TEST_F(SuccessorTest, OfAnotherAccountClosesTheSetUntilAnAdminAccepts) {
  succeeded_by(1, info("b2"));
  EXPECT_THAT(used(), ElementsAre(1)) << "so that accepting its account opens it";
  EXPECT_FALSE(view().open);
  EXPECT_THAT(view().problem, HasSubstr("hostler sets accept-account west"));
  ASSERT_THAT(story.all<UseSet>(), SizeIs(1));
  EXPECT_FALSE(story.all<UseSet>()[0].usable);
  expect_no_calls();
  story.clear();
  EXPECT_TRUE(accept());
  EXPECT_EQ(view().account, "b2");
  EXPECT_TRUE(view().open);
}

TEST_F(SuccessorTest, OfTheRightAccountOpensASetThatWasClosedForItsAccount) {
  succeeded_by(1, info("b2"));
  story.clear();
  succeeded_by(2, info("a1"));
  EXPECT_THAT(used(), ElementsAre(2));
  EXPECT_TRUE(view().open);
  EXPECT_FALSE(view().reported);
}

TEST_F(SuccessorTest, ThatDoesNotOpenLeavesTheSetAsItIsAndIsRecorded) {
  story.say(SuccessorOpened{"west", tl::unexpected(error(CloudErrorClass::kAuth)), 1});
  EXPECT_THAT(used(), IsEmpty());
  EXPECT_TRUE(view().open);
  EXPECT_THAT(story.ledger(), ElementsAre("set west open_failed auth"));
}

// Without the number of the driver its answer would open the set, whose calls then go to the other
// account.
TEST_F(SuccessorTest, AnAnswerOfTheDriverBeforeIsLate) {
  story.say(PolicyChanged{small_site()});
  ASSERT_THAT(story.all<OpenSet>(), SizeIs(1));
  succeeded_by(1, info("b2"));
  story.clear();
  opened(info("a1"));
  EXPECT_FALSE(view().open);
  expect_no_calls();
  story.pass(2s);
  EXPECT_THAT(story.all<OpenSet>(), SizeIs(1)) << "the one in use is asked";
  story.say(SetOpened{"west", info("b2"), 1});
  EXPECT_FALSE(view().open);
}

TEST_F(SuccessorTest, OpensTheGatesThatOtherCredentialsMayPass) {
  for (const auto cls : {CloudErrorClass::kAuth, CloudErrorClass::kRateLimit}) {
    story.say(SetListed{"west", story.now.mono, tl::unexpected(error(cls))});
    ASSERT_THAT(story.dispatcher.queries().gates(story.now.mono), SizeIs(1));
    succeeded_by(1, info("a1"));
    EXPECT_THAT(story.dispatcher.queries().gates(story.now.mono),
                SizeIs(cls == CloudErrorClass::kAuth ? 0 : 1));
  }
}

TEST_F(AccountTest, AReloadAsksAClosedSetAtOnce) {
  story.restore(known_site());
  for (int n = 0; n < 8; ++n) {
    opened(info("b2"));
    story.pass(2min);
  }
  opened(info("b2"));
  story.clear();
  story.say(PolicyChanged{small_site()});
  EXPECT_THAT(story.all<OpenSet>(), SizeIs(1));
}

TEST_F(AccountTest, WhatAdminsDoToInstancesWaitsUntilTheAccountIsRight) {
  story.restore(known_site());
  opened(info("b2"));
  story.clear();
  EXPECT_TRUE(story.ask(SetIdleBehavior{0, "user root", {7}, model::IdleBehavior::kHold}));
  EXPECT_TRUE(story.ask(KillInstance{0, "user root", {7}, ""}));
  story.pass(1min);
  expect_no_calls();

  opened(info("a1"));
  story.pass(5s);
  ASSERT_THAT(story.all<DestroyCall>(), SizeIs(1));
  EXPECT_EQ(story.all<DestroyCall>()[0].request.id, "i-7");
}

TEST(SetAccountTest, ADamagedRowKeepsTheSetClosedUntilAnAdminAccepts) {
  // The name of the row may be damaged too.
  for (const std::string key : {"west", "we\x01t"}) {
    Story story;
    auto restored = busy_site();
    restored.damaged.push_back({"sets", key, "account is not UTF-8 text", {}});
    story.restore(restored);
    story.say(SetOpened{"west", info("a1")});
    EXPECT_FALSE(story.dispatcher.queries().sets()[0].open);
    EXPECT_THAT(story.dispatcher.queries().sets()[0].problem, HasSubstr("damaged"));
    EXPECT_THAT(story.all<ListCall>(), IsEmpty());

    EXPECT_TRUE(story.ask(AcceptAccount{0, "user root", "west"}));
    EXPECT_TRUE(story.dispatcher.queries().sets()[0].open);
    EXPECT_THAT(story.journalled<model::SetAccount>(), SizeIs(1));
  }
}

TEST_F(AccountTest, ADamagedRowWithoutANameLeavesSetsAloneThatHaveARow) {
  auto restored = known_site();
  restored.damaged.push_back({"sets", "", "name is no name of a set", {}});
  story.restore(restored);
  opened(info("a1"));
  EXPECT_TRUE(view().open);
}

TEST_F(AccountTest, IsFitToPrintWhateverTheCloudReports) {
  story.restore(known_site());
  opened(info("b\n2\x1b[2J", "e\tu"));
  for (const std::string& text :
       {view().problem, view().reported->account, view().reported->region})
    EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c >= ' '; })) << text;
  ASSERT_TRUE(accept());
  EXPECT_EQ(view().account, "b 2\\u001b[2J");
}

}  // namespace
}  // namespace hostler::dispatch
