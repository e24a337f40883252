#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scheduler/lacks.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const model::GpuWish kA100{.kind = "a100", .memory = 0}, kT4{.kind = "t4", .memory = 0};

/// Two kinds of cards on one type.
struct MixedSite : Site {
  explicit MixedSite(std::int32_t a100 = 2, std::int32_t t4 = 2) {
    mixed = cards(type("mixed", 16, 64, 1000), {{"a100", 40 * kGiB, a100}, {"t4", 16 * kGiB, t4}});
  }
  std::uint32_t mixed = 0;
};

TEST(GpusOfHostsTest, ItemsGetCardsOfOneKind) {
  MixedSite site(1, 1);
  site.host(1, site.mixed);
  const demand::ClassId pair = site.gpu_jobs(1, 2), single = site.gpu_jobs(3, 1);

  const Plan plan = site.plan();

  EXPECT_EQ(placed(plan, pair), 0U);
  EXPECT_EQ(placed(plan, single), 2U);
  EXPECT_THAT(plan.creates, SizeIs(1)) << "for the third";
  ASSERT_FALSE(plan.waiting.empty());
  EXPECT_EQ(plan.waiting[0].reason, "mixed: 2 gpus of one kind: has 1 a100 and 1 t4");
}

TEST(GpusOfHostsTest, AWishIsMetByFreeCardsOfItsKindOnly) {
  MixedSite site;
  HostView& host = site.host(1, site.mixed);
  site.occupy(host, {.vcpus = 1, .gpus = 1, .ram = kGiB, .scratch = 0}, kA100);
  const demand::ClassId a100 = site.gpu_jobs(2, 1, kA100);
  const demand::ClassId large = site.gpu_jobs(1, 1, {.kind = "", .memory = 24 * kGiB});

  const Plan plan = site.plan();

  EXPECT_EQ(placed(plan, a100), 1U);
  EXPECT_EQ(placed(plan, large), 0U) << "the t4 is too small";
  EXPECT_THAT(plan.creates, SizeIs(1));
}

TEST(GpusOfHostsTest, AnyCardsAreTakenWhereTheyKeepOthersWhole) {
  MixedSite site(4, 1);
  site.host(1, site.mixed);
  const demand::ClassId any = site.gpu_jobs(1, 1, {}, /*priority=*/9);
  const demand::ClassId all = site.gpu_jobs(1, 4);

  const Plan plan = site.plan();

  EXPECT_EQ(placed(plan, any) + placed(plan, all), 2U);
}

TEST(GpusOfHostsTest, PlacesKeepTheOrderInWhichCardsWereFound) {
  MixedSite site(/*a100=*/4, /*t4=*/3);
  site.host(1, site.mixed);
  const demand::ClassId any = site.gpu_jobs(2, 1);
  site.snapshot.classes[any].heads = {{0, 1}, {0, 3}};
  site.snapshot.classes[site.gpu_jobs(1, 3, kA100)].heads = {{0, 2}};
  site.snapshot.classes[site.gpu_jobs(1, 2, kT4)].heads = {{0, 4}};

  const Plan plan = site.plan();

  EXPECT_EQ(placed_on(plan, 1), 4U);
  EXPECT_THAT(plan.places, SizeIs(4)) << "both of the first class at once leave one t4";
}

TEST(GpusOfHostsTest, AWishGoesNowhereWhereKindsAreNotSaid) {
  Site site;
  const std::uint32_t plain = site.type("plain", 8, 32, 100);
  site.snapshot.offerings[plain].resources.gpus = 2;
  site.host(1, plain);
  const demand::ClassId wish = site.gpu_jobs(1, 1, kA100), any = site.gpu_jobs(1, 1);

  const Plan plan = site.plan();

  EXPECT_EQ(placed(plan, any), 1U);
  EXPECT_EQ(placed(plan, wish), 0U);
  EXPECT_THAT(plan.creates, IsEmpty());
  ASSERT_THAT(plan.waiting, SizeIs(1));
  EXPECT_EQ(plan.waiting[0].reason, "plain: kind a100: of its 2 gpus nothing is said");
}

TEST(GpusOfHostsTest, AHostThatReportsAKindServesTheWishForIt) {
  Site site;
  const std::uint32_t plain = site.type("plain", 8, 32, 100);
  site.snapshot.offerings[plain].resources.gpus = 2;
  site.host(1, plain).gpus = {{"a100", 40 * kGiB, 2}};
  const demand::ClassId wish = site.gpu_jobs(1, 1, kA100), other = site.gpu_jobs(1, 1, kT4);

  const Plan plan = site.plan();

  EXPECT_EQ(placed(plan, wish), 1U);
  EXPECT_EQ(placed(plan, other), 0U);
}

TEST(GpusOfHostsTest, NothingWaitsForAHostThatHasLostItsCards) {
  MixedSite site(2, 2);
  HostView& host = site.host(1, site.mixed);
  host.gpus = host.cards = {{"a100", 40 * kGiB, 1}, {"t4", 16 * kGiB, 2}};
  host.total.gpus = host.free.gpus = 3;
  const demand::ClassId pair = site.gpu_jobs(1, 2, kA100, 0, 20min);
  const demand::ClassId single = site.gpu_jobs(1, 1, kA100);

  const Plan plan = site.plan();

  EXPECT_EQ(placed(plan, single), 1U);
  EXPECT_EQ(placed(plan, pair), 0U);
  EXPECT_THAT(plan.reservations, IsEmpty()) << "it would never fit there";
  EXPECT_THAT(bought(plan), ElementsAre(site.mixed));
}

TEST(GpusOfHostsTest, AReservedHostMayHoldTheItemOnceItsCardsAreFree) {
  MixedSite site(2, 2);
  HostView& host = site.host(1, site.mixed);
  site.occupy(host, {.vcpus = 1, .gpus = 1, .ram = kGiB, .scratch = 0}, kA100);
  site.pool().sizes.max = 1;
  const demand::ClassId pair = site.gpu_jobs(1, 2, kA100, 0, 20min);

  Plan plan = site.plan();

  ASSERT_THAT(plan.reservations, SizeIs(1));
  site.apply(plan);
  site.snapshot.hosts[0].cards[0].count = 2, site.snapshot.hosts[0].free.gpus = 4;
  EXPECT_EQ(placed(site.plan(), pair), 1U);
}

TEST(GpusOfHostsTest, ALeaseGetsAHostWhoseHealthyCardsHoldIt) {
  MixedSite site(2, 2);
  HostView& worn = site.host(1, site.mixed);
  worn.gpus = worn.cards = {{"a100", 40 * kGiB, 1}, {"t4", 16 * kGiB, 2}};
  worn.total.gpus = worn.free.gpus = 3;
  site.host(2, site.mixed);
  const demand::ClassId lease = site.leases(3, 1);
  site.snapshot.classes[lease].shape.needs.gpus = 2;
  site.constraints(lease).gpu = kA100;

  const Plan plan = site.plan();

  EXPECT_EQ(placed_on(plan, 1), 0U);
  EXPECT_EQ(placed_on(plan, 2), 1U);
  EXPECT_THAT(plan.creates, SizeIs(2)) << "each gets all cards of its host";
}

TEST(NewHostsWithGpusTest, CardsOfAnotherKindDoNotCount) {
  MixedSite site;
  const demand::ClassId a100 = site.gpu_jobs(4, 1, kA100);
  EXPECT_THAT(site.plan().creates, SizeIs(2));
  site.snapshot.classes[a100].count = 2;
  site.gpu_jobs(2, 1, kT4);
  EXPECT_THAT(site.plan().creates, SizeIs(1));
}

TEST(NewHostsWithGpusTest, EachHostHoldsWhatItIsFor) {
  MixedSite site(3, 3);
  site.gpu_jobs(4, 2);

  Plan plan = site.plan();

  ASSERT_THAT(plan.creates, SizeIs(2)) << "one pair of each kind on a host, and one card is left";
  site.apply(plan);
  plan = site.plan();
  EXPECT_THAT(plan.creates, IsEmpty());
  for (HostView& host : site.snapshot.hosts) host.phase = HostPhase::kReady, host.takes_work = true;
  EXPECT_EQ(placed(site.plan(), 0), 4U);
}

TEST(NewHostsWithGpusTest, ATypeOfOneKindIsNotPassedOverForALargerOneOfSeveral) {
  Site site;
  const std::uint32_t one = site.cards(site.type("one", 16, 64, 1000), {{"a100", 0, 4}});
  site.cards(site.type("two", 16, 64, 900), {{"a100", 0, 2}, {"t4", 0, 3}});
  site.gpu_jobs(4, 1, kA100);
  EXPECT_THAT(bought(site.plan()), ElementsAre(one)) << "two of the cheaper type would be dearer";
}

TEST(NewHostsWithGpusTest, TheKindDecidesTheType) {
  Site site;
  site.cards(site.type("cheap", 8, 32, 100), {{"t4", 16 * kGiB, 4}});
  const std::uint32_t dear = site.cards(site.type("dear", 8, 32, 900), {{"a100", 40 * kGiB, 4}});
  site.gpu_jobs(1, 1, kA100);

  const Plan plan = site.plan();

  EXPECT_THAT(bought(plan), ElementsAre(dear));
  EXPECT_EQ(plan.creates[0].passed_over, "cheap: kind a100: has 4 t4");
}

/// A type with cards and one without, of equal price and size.
struct EqualSite : Site {
  EqualSite() {
    gpu = cards(type("a-gpu", 8, 32, 100), {{"t4", 16 * kGiB, 2}});
    cpu = type("b-cpu", 8, 32, 100);
  }
  std::uint32_t gpu = 0, cpu = 0;
};

TEST(WorkWithoutGpusTest, IsPlacedWhereNoCardsAreFree) {
  EqualSite site;
  site.host(1, site.gpu);
  site.host(2, site.cpu);
  site.jobs(1, 1);
  EXPECT_EQ(placed_on(site.plan(), 2), 1U);
}

TEST(WorkWithoutGpusTest, IsPlacedWhereTheCardsAreUsedUp) {
  EqualSite site;
  site.occupy(site.host(1, site.gpu), {.vcpus = 4, .gpus = 1, .ram = kGiB, .scratch = 0});
  site.occupy(site.host(2, site.gpu), {.vcpus = 2, .gpus = 2, .ram = kGiB, .scratch = 0});
  site.jobs(1, 1);
  EXPECT_EQ(placed_on(site.plan(), 2), 1U) << "the other one is fuller, but has a free card";
}

TEST(WorkWithoutGpusTest, WaitsForAHostWithoutCards) {
  EqualSite site;
  site.host(1, site.gpu, HostPhase::kComing).created -= 1min;
  site.host(2, site.cpu, HostPhase::kComing);
  site.jobs(1, 1);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.covered, SizeIs(1));
  EXPECT_EQ(plan.covered[0].host.value, 2U);
}

TEST(WorkWithoutGpusTest, WakesAHostWithoutCards) {
  EqualSite site;
  site.host(1, site.gpu, HostPhase::kStopped).can_wake = true;
  site.host(2, site.cpu, HostPhase::kStopped).can_wake = true;
  site.jobs(1, 1);
  const Plan plan = site.plan();
  ASSERT_THAT(plan.wakes, SizeIs(1));
  EXPECT_EQ(plan.wakes[0].host.value, 2U);
}

TEST(WorkWithoutGpusTest, BuysAHostWithoutCards) {
  EqualSite site;
  site.jobs(24, 1, 4);
  EXPECT_THAT(bought(site.plan()), ElementsAre(site.cpu, site.cpu, site.cpu));
  std::int64_t& ram = site.snapshot.offerings[site.gpu].resources.ram;
  for (const std::int64_t more : {16 * kMiB, 32 * kGiB}) {
    ram += more;
    EXPECT_THAT(bought(site.plan()), testing::Each(site.cpu)) << "so much ram is of no use";
  }
  site.snapshot.classes[0].shape.exclusive = true;
  EXPECT_THAT(bought(site.plan()), testing::Each(site.cpu));
}

TEST(WorkWithoutGpusTest, SharesAHostThatIsBoughtForItsCards) {
  EqualSite site;
  site.gpu_jobs(1, 1);
  site.jobs(2, 1);
  EXPECT_THAT(bought(site.plan()), ElementsAre(site.gpu));
}

TEST(GpuReasonsTest, AFullPoolTellsWhichCardsAreInTheWay) {
  MixedSite site;
  site.pool().sizes.max = 1;
  HostView& host = site.host(1, site.mixed);
  site.occupy(host, {.vcpus = 1, .gpus = 1, .ram = kGiB, .scratch = 0}, kA100);
  site.occupy(host, {.vcpus = 1, .gpus = 1, .ram = kGiB, .scratch = 0}, kT4);
  site.gpu_jobs(1, 2);
  EXPECT_THAT(site.plan().waiting[0].reason, HasSubstr("h-1: its 2 free cards are of different"));
  site.constraints(0).gpu = kA100;
  EXPECT_THAT(site.plan().waiting[0].reason, HasSubstr("h-1: 1 of 2 cards of kind a100 free"));
}

TEST(GpuReasonsTest, TypesTellWhatTheyLack) {
  const auto lack = [](const model::GpuGroups& groups, std::int32_t count,
                       const model::GpuWish& wish) {
    Offering offering;
    offering.gpus = groups;
    for (const auto& group : groups) offering.resources.gpus += group.count;
    return lacks({.vcpus = 0, .gpus = count, .ram = 0, .scratch = 0}, wish, offering);
  };
  const model::GpuGroups two{{"a100", 40 * kGiB, 2}, {"t4", 0, 1}};
  EXPECT_EQ(lack({{"t4", 0, 8}}, 1, kA100), "kind a100: has 8 t4");
  EXPECT_EQ(lack(two, 3, {}), "3 gpus of one kind: has 2 a100 and 1 t4");
  EXPECT_EQ(lack(two, 4, {}), "3 of 4 gpus");
  EXPECT_EQ(lack(two, 3, kA100), "2 of 3 gpus of kind a100");
  EXPECT_EQ(lack(two, 1, {.kind = "a100", .memory = 80 * kGiB}),
            "kind a100 with 80 GiB: has 2 a100 with 40 GiB and 1 t4");
  EXPECT_EQ(lack(two, 3, {.kind = "", .memory = kGiB}), "2 of 3 gpus with 1 GiB");
  EXPECT_EQ(lack({}, 2, kA100), "0 of 2 gpus");
  EXPECT_EQ(lack(two, 2, kA100), "");
}

TEST(GpuReasonsTest, ARefusalNamesTheNearestTypes) {
  Site site;
  site.type("small", 2, 4, 100);
  site.cards(site.type("t4x8", 32, 64, 800), {{"t4", 16 * kGiB, 8}});
  site.cards(site.type("mixed", 32, 64, 900), {{"a100", 40 * kGiB, 1}, {"t4", 16 * kGiB, 1}});
  model::WorkShape shape;
  shape.needs.gpus = 2;
  shape.constraints.gpu = kA100;
  std::string nearest;

  EXPECT_FALSE(cheapest_fit(shape, site.snapshot.offerings, site.policy, &nearest));

  EXPECT_EQ(nearest,
            "mixed: 1 of 2 gpus of kind a100; t4x8: kind a100: has 8 t4; small: 0 of 2 gpus");
  shape.needs.gpus = 1;
  EXPECT_EQ(cheapest_fit(shape, site.snapshot.offerings, site.policy, &nearest), 2U);
}

TEST(PickNextTest, GivesCardsOfOneKindThatAreFree) {
  demand::Queue queue;
  model::WorkShape shape;
  shape.needs.vcpus = 1;
  shape.needs.gpus = 2;
  const demand::ClassId pair = queue.intern(shape);
  queue.push(pair, {.arrival = 1, .work = {1}, .since = {}});
  MixedSite site;
  HostView host = site.host(1, site.mixed);
  const auto pick = [&] {
    return pick_next(queue, host, site.pool(), site.policy.types[0], "", model::Market::kOnDemand);
  };

  EXPECT_EQ(pick(), pair);
  site.occupy(host, {.vcpus = 1, .gpus = 1, .ram = kGiB, .scratch = 0}, kA100);
  EXPECT_EQ(pick(), pair) << "the two t4";
  site.occupy(host, {.vcpus = 1, .gpus = 1, .ram = kGiB, .scratch = 0}, kT4);
  EXPECT_EQ(pick(), std::nullopt) << "one of each kind is free";
}

}  // namespace
}  // namespace hostler::scheduler
