#include "core/dispatch/state/gpu_reports.h"
#include "tests/unit/dispatch/cards.h"

/// Readings that fail, hosts that have no card for work, and hosts that list fewer than the menu.
namespace hostler::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A host with two cards on which a job of one card runs.
struct OneRuns : CardSite {
  OneRuns() {
    begin();
    ours = submit({job_of(1)}).at(0);
    on = made();
    boot_with(on, listed({card(0), card(1)}));
    host(on, model::AttemptStarted{{ours, 1}, now.wall});
    clear();
  }
  void read(model::CardReport report) { host(on, model::HostCards{std::move(report)}); }

  WorkId ours;
  InstanceId on;
};

TEST(CardReadingsTest, AReadingThatFailsStopsNewWorkWithCardsAndNothingElse) {
  OneRuns story;
  story.read(unread());
  (void)story.submit({story.job_of(1)});
  (void)story.submit({story.job(1)});
  ASSERT_THAT(story.starts(), SizeIs(1));
  EXPECT_THAT(story.starts()[0], IsEmpty()) << "it is the job without cards";
  EXPECT_EQ(story.state(story.on), InstanceState::kBusy);
  EXPECT_EQ(story.record(story.ours).state, WorkState::kRunning);

  story.read(listed({card(0), card(1)}));
  ASSERT_THAT(story.starts(), SizeIs(2));
  EXPECT_THAT(story.starts()[1], testing::ElementsAre("GPU-1"));
}

TEST(CardReadingsTest, TheThirdReadingThatFailsInARowBreaksTheHost) {
  OneRuns story;
  for (int i = 0; i < 2; ++i) story.read(unread());
  EXPECT_EQ(story.record(story.on).health, model::Health::kHealthy);
  story.read(unread());
  EXPECT_EQ(story.record(story.on).health, model::Health::kBroken);
  EXPECT_THAT(story.ledger(), Contains(story.on.text() + " broken gpus"));
  EXPECT_EQ(story.record(story.ours).state, WorkState::kRunning) << "what runs goes on";
  EXPECT_THAT(story.record(story.on).last_text, HasSubstr("it took too long"));
}

TEST(CardReadingsTest, AHostWithoutAHealthyCardIsBrokenAndStaysSo) {
  OneRuns story;
  story.read(listed({card(0, "Xid 79"), card(1, "ECC")}));
  EXPECT_EQ(story.record(story.on).health, model::Health::kBroken);
  story.read(listed({card(0), card(1)}));
  EXPECT_THAT(story.ledger(), Contains(story.on.text() + " card_healthy GPU-0"));
  EXPECT_EQ(story.record(story.on).health, model::Health::kBroken);
  story.exited(story.on, story.ours);
  story.host(story.on, model::AttemptCollected{{story.ours, 1}, ""});
  EXPECT_EQ(story.state(story.on), InstanceState::kTerminating);
}

TEST(CardReadingsTest, ANewHostWithoutAHealthyCardIsEndedBeforeItGetsWork) {
  CardSite story;
  story.begin();
  (void)story.submit({story.job_of(1)});
  const auto on = story.made();
  story.boot_with(on, listed({card(0, "Xid 79")}));
  EXPECT_EQ(story.state(on), InstanceState::kTerminating);
  EXPECT_THAT(story.ledger(), Contains(on.text() + " broken gpus"));
  EXPECT_THAT(story.starts(), IsEmpty());
}

// Nothing guards the cards yet, so no job of any kind may start there.
TEST(CardReadingsTest, AHostWhoseCardsWereNeverReadGetsNoJobUntilTheyAre) {
  CardSite story;
  story.begin();
  (void)story.submit({story.job(1)});
  const auto on = story.made();
  story.boot_with(on, unread());
  EXPECT_THAT(story.starts(), IsEmpty());
  EXPECT_THAT(story.view(on).conditions,
              Contains("its cards are not known yet, so no work starts there: it took too long"));
  story.host(on, model::HostCards{listed({card(0), card(1)})});
  EXPECT_THAT(story.starts(), SizeIs(1));
}

TEST(CardReadingsTest, AHostWhoseCardsWereNeverReadIsNotLent) {
  auto site = two_cards();
  site.pools[0].leases = model::LeasePolicy{};
  CardSite story(site);
  story.begin();
  const auto lease = story.borrow(story.lease());
  const auto on = story.made();
  story.boot_with(on, unread());
  EXPECT_NE(story.lease_state(lease), "granted");
  story.host(on, model::HostCards{listed({card(0), card(1)})});
  EXPECT_EQ(story.lease_state(lease), "granted");
}

TEST(CardReadingsTest, HostsWhoseCardsAreNeverReadAreBootsThatFailed) {
  CardSite story;
  story.begin();
  (void)story.submit({story.job_of(1)});
  for (int host = 0; host < 3; ++host) {
    const auto on = story.made();
    story.boot_with(on, unread());
    for (int i = 0; i < 2; ++i) story.host(on, model::HostCards{unread()});
    EXPECT_EQ(story.state(on), InstanceState::kTerminating);
    story.pass(10s);
  }
  const auto gates = story.dispatcher.queries().gates(story.now.mono);
  ASSERT_FALSE(gates.empty());
  EXPECT_THAT(gates[0].message, HasSubstr("could not be read"));
}

TEST(CardReadingsTest, AHostWhoseTypeHasNoCardsIsNotBrokenByThem) {
  auto site = small_site();
  CardSite story(site);
  story.begin();
  (void)story.submit({story.job(1)});
  const auto on = story.made();
  story.boot_with(on, listed({card(0, "Xid 79")}));
  for (int i = 0; i < 5; ++i) story.host(on, model::HostCards{unread()});
  EXPECT_EQ(story.record(on).health, model::Health::kHealthy);
  EXPECT_THAT(story.starts(), SizeIs(1));
}

TEST(CardReadingsTest, AToolThatFailsWhereTheTypeHasNoCardsIsNoEventAndStopsNoWork) {
  CardSite story(small_site());
  story.begin();
  (void)story.submit({story.job(1)});
  const auto on = story.made();
  story.boot_with(on, unread());
  EXPECT_THAT(story.starts(), SizeIs(1));
  EXPECT_THAT(story.ledger(), testing::Not(Contains(HasSubstr("cards_unread"))));
}

TEST(CardReadingsTest, AHostWhoseCardsChangeAtEachReadingIsBrokenAndFillsNoLedger) {
  OneRuns story;
  for (int i = 0; i < 100; ++i) story.read(listed({card(0), card(1, i % 2 == 0 ? "ECC" : "")}));
  EXPECT_EQ(story.record(story.on).health, model::Health::kBroken);
  const auto told = story.ledger();
  EXPECT_THAT(told, Contains(story.on.text() + " cards_unsteady"));
  EXPECT_LE(told.size(), 15U);
}

TEST(CardReadingsTest, AReadingOfAHostThatIsNotConnectedIsIgnored) {
  OneRuns story;
  story.host(story.on, model::HostLost{"reset", {}});
  story.read(listed({}));
  EXPECT_EQ(story.record(story.on).health, model::Health::kUnreachable);
}

TEST(CardReadingsTest, PlansCountWithTheCardsThatHostsOfTheTypeHaveListed) {
  CardSite story(site_with_cards());
  story.begin();
  (void)story.submit({story.job_of(2)});
  ASSERT_EQ(story.all<CreateCall>().back().request->type.name, "small");
  const auto on = story.made();
  story.boot_with(on, listed({card(0)}));
  story.pass(10s);
  EXPECT_EQ(story.all<CreateCall>().back().request->type.name, "large");
  EXPECT_THAT(story.ledger(), Contains("set west gpus_learned small"));
  EXPECT_EQ(story.journalled<model::GpuReport>(),
            (std::vector<model::GpuReport>{{"west", "small", "", 0, 2, 1}}));
}

TEST(CardReadingsTest, WhatHostsHaveListedCountsAlsoAfterARestartUntilTheMenuChanges) {
  for (const std::int32_t menu : {2, 3}) {
    auto site = two_cards();
    site.types[0].resources.gpus = menu;
    CardSite story(site);
    model::Restored restored;
    restored.gpu_reports = {{"west", "small", "", 0, 2, 1}};
    story.begin(restored);
    const auto refused = !story.ask(Submit{0, "user ann", {story.job_of(2)}});
    EXPECT_EQ(refused, menu == 2);
    EXPECT_THAT(story.journalled<model::GpuForgotten>(), SizeIs(menu == 2 ? 0 : 1));
  }
}

TEST(CardReadingsTest, ACardWithAProblemIsOfItsHostAndNothingIsLearnedOfIt) {
  CardSite story;
  story.begin();
  (void)story.submit({story.job_of(2)});
  story.boot_with(story.made(), listed({card(0), card(1, "ECC")}));
  EXPECT_THAT(story.journalled<model::GpuReport>(), IsEmpty());
}

// Bug: a card that was lost later, or a job that was root, taught plans a smaller number.
TEST(CardReadingsTest, OnlyTheFirstReadingOfAHostWithoutWorkTeachesPlans) {
  OneRuns story;
  story.read(listed({card(1)}));
  EXPECT_THAT(story.journalled<model::GpuReport>(), IsEmpty());

  CardSite idle;
  idle.begin();
  (void)idle.submit({idle.job_of(2)});
  idle.boot_with(idle.made(), listed({card(0), card(1, "lost", "")}));
  EXPECT_THAT(idle.journalled<model::GpuReport>(), IsEmpty()) << "its kind is not known any more";
}

TEST(GpuReportsTest, WithoutKindsOnTheMenuTheKindCountsOfWhichThereAreMost) {
  const auto type = two_cards().types[0];
  GpuReports reports;
  EXPECT_EQ(reports.take("west", type, {7}, {card(0), card(1, "", "t4")}),
            (std::vector<model::GpuReport>{{"west", "small", "", 0, 2, 1}}));
}

TEST(GpuReportsTest, EachGroupOfTheMenuIsLearnedByItself) {
  auto type = two_cards().types[0];
  type.resources.gpus = 4;
  type.gpu_groups = {{"a100", 0, 2}, {"t4", 0, 2}};
  GpuReports reports;
  const auto learned = reports.take("west", type, {7}, {card(0), card(1), card(2, "", "t4")});
  EXPECT_EQ(learned, (std::vector<model::GpuReport>{{"west", "small", "t4", 0, 2, 1}}));
  EXPECT_EQ(reports.expected("west", type).count, 3);
  EXPECT_EQ(reports.expected("west", type).groups,
            (model::GpuGroups{{"a100", 0, 2}, {"t4", 0, 1}}));
  EXPECT_EQ(reports.expected("east", type).count, 4);
}

// Otherwise a job that wishes for the kind on the menu gets one host after the other.
TEST(GpuReportsTest, HostsWhoseKindsTheMenuNamesOtherwiseAreExpectedToHaveTheirOwn) {
  auto type = two_cards().types[0];
  type.gpu_groups = {{"grid-k520", 0, 2}};
  fleet::HostCards other, right;
  (void)other.take(listed({card(0, "", "k520"), card(1, "", "k520")}), Mono(1h));
  (void)right.take(listed({card(0, "", "grid-k520")}), Mono(1h));
  GpuReports reports;
  EXPECT_TRUE(reports.take_kinds("west", type, other));
  EXPECT_FALSE(reports.take_kinds("west", type, other)) << "they are expected already";
  EXPECT_EQ(reports.expected("west", type).groups, (model::GpuGroups{{"k520", 0, 2}}));
  EXPECT_EQ(reports.expected("west", type).count, 2);
  EXPECT_EQ(reports.expected("east", type).groups, type.gpu_groups);
  auto mended = type;
  mended.gpu_groups = {{"k520", 0, 2}};
  EXPECT_EQ(reports.expected("west", mended).groups, mended.gpu_groups);
  EXPECT_TRUE(reports.take_kinds("west", type, right));
  EXPECT_EQ(reports.expected("west", type).groups, type.gpu_groups);
}

TEST(GpuReportsTest, NothingIsLearnedOfAHostWithoutACardOfItsType) {
  auto type = two_cards().types[0];
  type.gpu_groups = {{"t4", 0, 2}};
  GpuReports reports;
  EXPECT_THAT(reports.take("west", type, {7}, {card(0)}), IsEmpty());
  EXPECT_THAT(reports.take("west", type, {7}, {}), IsEmpty());
}

TEST(GpuReportsTest, TenHostsInARowThatHaveMoreRaiseIt) {
  const auto type = two_cards().types[0];
  GpuReports reports;
  EXPECT_THAT(reports.take("west", type, {1}, {card(0)}), SizeIs(1));
  for (std::uint64_t host = 2; host < 11; ++host)
    EXPECT_THAT(reports.take("west", type, {host}, {card(0), card(1)}), IsEmpty());
  EXPECT_THAT(reports.take("west", type, {11}, {card(0), card(1)}), SizeIs(1));
  EXPECT_EQ(reports.expected("west", type).count, 2);
}

}  // namespace
}  // namespace hostler::dispatch
