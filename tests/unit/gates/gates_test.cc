#include "core/gates/gates.h"

#include <gtest/gtest.h>

namespace hostler::gates {
namespace {

using namespace std::chrono_literals;
using model::CloudError;
using model::CloudErrorClass;
using model::CloudOp;
using model::Market;
namespace scope = model::scope;

class GatesTest : public testing::Test {
 protected:
  static GateQuery call(std::string type, Market market = Market::kOnDemand) {
    return {.set = "west",
            .op = CloudOp::kCreate,
            .type = std::move(type),
            .group = "standard",
            .zone = "z1",
            .subnet = "",
            .region = "r1",
            .market = market};
  }
  static CloudError error(CloudErrorClass cls, std::uint32_t bits = 0,
                          std::optional<Duration> retry = {}) {
    CloudError out;
    out.cls = cls;
    out.scope = bits;
    out.retry_after = retry;
    out.message = "no";
    return out;
  }
  static Now at(Duration d) {
    return {Mono(d), Wall{std::chrono::duration_cast<std::chrono::microseconds>(d).count()}};
  }
  bool shut(const GateQuery& query, Duration d) const { return gates.shut(query, Mono(d)); }
  auto refuse(const GateQuery& query, const CloudError& e, Duration d) {
    return gates.refuse(query, e, at(d), random);
  }

  Gates gates;
  Random random{1};
};

TEST_F(GatesTest, ACapacityErrorShutsItsTypeZoneAndMarketOnly) {
  auto record = refuse(call("big", Market::kSpot), error(CloudErrorClass::kCapacity), 0s);

  ASSERT_TRUE(record);
  EXPECT_TRUE(shut(call("big", Market::kSpot), 1s));
  EXPECT_FALSE(shut(call("big"), 1s)) << "spot shortage blocks on_demand";
  EXPECT_FALSE(shut(call("small", Market::kSpot), 1s)) << "one type blocks another";
  GateQuery elsewhere = call("big", Market::kSpot);
  elsewhere.zone = "z2";
  EXPECT_FALSE(shut(elsewhere, 1s));
  GateQuery list = call("big", Market::kSpot);
  list.op = CloudOp::kList;
  EXPECT_FALSE(shut(list, 1s));
}

// Bug: as the cloud takes each create, the one that probes the gate opened it for a crowd, which
// died as well.
TEST_F(GatesTest, AnErrorToldAfterTheCreateEndsWhenTheHostThatIsTriedComesUp) {
  const auto of = [&](std::uint64_t host) {
    auto query = call("big");
    query.instance = {host};
    return query;
  };
  const auto dies = [&](std::uint64_t host, Duration d) {
    return gates.close(of(host), error(CloudErrorClass::kCapacity), at(d), random, Told::kLater);
  };
  ASSERT_TRUE(dies(1, 0s));
  EXPECT_TRUE(shut(of(2), 30s));
  gates.passing(of(2), Mono(5min));
  EXPECT_TRUE(gates.succeeded(of(2)).empty()) << "it was taken, as those before";
  EXPECT_TRUE(shut(of(3), 5min)) << "one is tried";
  const auto again = dies(2, 6min);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->failures, 2U);
  gates.passing(of(3), Mono(1h));
  EXPECT_TRUE(gates.booted(of(1)).empty()) << "it was made before";
  EXPECT_EQ(gates.booted(of(3)).size(), 1U);
  EXPECT_FALSE(shut(of(4), 1h));
}

TEST_F(GatesTest, AnErrorToldAfterTheCreateIsOfStartsToo) {
  (void)gates.close(call("big"), error(CloudErrorClass::kCapacity), at(0s), random, Told::kLater);
  auto start = call("big");
  start.op = CloudOp::kStart;
  EXPECT_TRUE(shut(start, 1s));
}

TEST_F(GatesTest, ASpotShortageNeverBlocksOnDemandWhateverTheDriverSays) {
  refuse(call("big", Market::kSpot), error(CloudErrorClass::kCapacity, scope::kRegion), 0s);

  EXPECT_TRUE(shut(call("small", Market::kSpot), 1s));
  EXPECT_FALSE(shut(call("big"), 1s));
}

TEST_F(GatesTest, ARateLimitStopsAllCallsOfTheSetUntilTheTimeGiven) {
  refuse(call("big"), error(CloudErrorClass::kRateLimit, 0, 90s), 0s);

  GateQuery list = call("");
  list.op = CloudOp::kList;
  EXPECT_TRUE(shut(list, 89s));
  EXPECT_FALSE(shut(list, 90s));
  GateQuery east = call("big");
  east.set = "east";
  EXPECT_FALSE(shut(east, 1s));
}

TEST_F(GatesTest, RepeatsDoNotExtendAGate) {
  refuse(call("big"), error(CloudErrorClass::kQuota, 0, 60s), 0s);

  EXPECT_FALSE(refuse(call("big"), error(CloudErrorClass::kQuota, 0, 60s), 50s));

  EXPECT_FALSE(shut(call("big"), 60s));
}

TEST_F(GatesTest, OneProbePassesAtTheEndAndItsFailureShutsForLonger) {
  auto first = refuse(call("big"), error(CloudErrorClass::kCapacity), 0s);
  const Mono end = gates.all().begin()->second.until;
  EXPECT_FALSE(gates.shut(call("big"), end));

  gates.passing(call("big"), end);
  EXPECT_TRUE(gates.shut(call("big"), end)) << "two probes at once";
  const Duration later = end.time_since_epoch();
  auto second = refuse(call("big"), error(CloudErrorClass::kCapacity), later);

  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->failures, 2U);
  EXPECT_GT(gates.all().begin()->second.until - end, 1min) << "no back-off";
}

TEST_F(GatesTest, ASuccessfulProbeOpensTheGate) {
  refuse(call("big"), error(CloudErrorClass::kCapacity, 0, 10s), 0s);
  gates.passing(call("big"), Mono(10s));

  EXPECT_EQ(gates.succeeded(call("big")).size(), 1U);

  EXPECT_TRUE(gates.all().empty());
}

TEST_F(GatesTest, ASuccessThatWasUnderWayDoesNotOpenAShutGate) {
  refuse(call("big"), error(CloudErrorClass::kRateLimit, 0, 60s), 0s);

  EXPECT_TRUE(gates.succeeded(call("big")).empty());

  EXPECT_TRUE(shut(call("big"), 1s));
}

TEST_F(GatesTest, AnotherErrorEndsTheProbeSoThatTheNextMayTry) {
  refuse(call("big"), error(CloudErrorClass::kCapacity, 0, 10s), 0s);
  gates.passing(call("big"), Mono(10s));

  EXPECT_FALSE(refuse(call("big"), error(CloudErrorClass::kTransient), 12s));

  EXPECT_FALSE(shut(call("big"), 30s));
}

// Bug: the price that a cloud said of a type ended the probe of its capacity gate.
TEST_F(GatesTest, AGateThatIsShutWithoutACallEndsNoProbe) {
  refuse(call("big"), error(CloudErrorClass::kCapacity, 0, 10s), 0s);
  gates.passing(call("big"), Mono(10s));

  EXPECT_TRUE(gates.close(call("big"), error(CloudErrorClass::kPrice), at(12s), random));

  EXPECT_EQ(gates.succeeded(call("big")).size(), 1U) << "the probe opens its gate";
}

// Bug: the end of a call that no gate had held back let a second call probe beside the first.
TEST_F(GatesTest, OnlyTheCallThatProbesEndsTheProbeWhenItIsAbandoned) {
  refuse(call("big"), error(CloudErrorClass::kRateLimit, 0, 5s), 0s);
  GateQuery probe = call("big"), other = call("big");
  probe.instance = {1};
  other.instance = {2};
  gates.passing(probe, Mono(6s));

  gates.abandoned(other, at(6s));
  EXPECT_TRUE(shut(call("big"), 20s));
  gates.abandoned(probe, at(7s));
  EXPECT_TRUE(shut(call("big"), 8s)) << "a pause";
  EXPECT_FALSE(shut(call("big"), 13s));
}

TEST_F(GatesTest, AQuotaGateOpensWhenSomethingOfItsGroupIsDestroyed) {
  refuse(call("big"), error(CloudErrorClass::kQuota), 0s);
  EXPECT_TRUE(shut(call("small"), 1s)) << "same group";

  EXPECT_TRUE(gates.destroyed("west", "gpu").empty());
  EXPECT_TRUE(gates.destroyed("east", "standard").empty());
  EXPECT_EQ(gates.destroyed("west", "standard").size(), 1U);

  EXPECT_FALSE(shut(call("big"), 1s));
}

TEST_F(GatesTest, AQuotaOfAnUnnamedGroupShutsTheTypeOnly) {
  GateQuery unnamed = call("big");
  unnamed.group.clear();
  refuse(unnamed, error(CloudErrorClass::kQuota, scope::kGroup), 0s);

  GateQuery other = call("small");
  other.group.clear();
  EXPECT_TRUE(shut(unnamed, 1s));
  EXPECT_FALSE(shut(other, 1s));
}

TEST_F(GatesTest, AGateAlwaysHoldsTheCallThatWasRefused) {
  CloudError odd = error(CloudErrorClass::kCapacity,
                         scope::kType | scope::kZone | scope::kGroup | scope::kSubnet, 60s);
  odd.type = "another", odd.zone = "z9", odd.group = "g", odd.subnet = "s";

  refuse(call("big"), odd, 0s);

  EXPECT_TRUE(shut(call("big"), 1s)) << "the same refusal would come again and again";
}

TEST_F(GatesTest, TheFifthInternalErrorInARowShutsItsOperation) {
  for (int i = 0; i < 4; ++i)
    EXPECT_FALSE(refuse(call("big"), error(CloudErrorClass::kInternal), 0s));
  gates.succeeded(call("big"));
  for (int i = 0; i < 4; ++i)
    EXPECT_FALSE(refuse(call("big"), error(CloudErrorClass::kInternal), 0s));
  EXPECT_FALSE(shut(call("big"), 1s));

  EXPECT_TRUE(refuse(call("big"), error(CloudErrorClass::kInternal), 0s));

  EXPECT_TRUE(shut(call("big"), 1s));
  GateQuery list = call("big");
  list.op = CloudOp::kList;
  EXPECT_FALSE(shut(list, 1s));
}

TEST_F(GatesTest, ErrorsWithoutAGateShutNothing) {
  for (const auto cls :
       {CloudErrorClass::kTransient, CloudErrorClass::kTimeout, CloudErrorClass::kCancelled})
    EXPECT_FALSE(refuse(call("big"), error(cls), 0s));
  EXPECT_FALSE(shut(call("big"), 1s));
}

constexpr CloudErrorClass kForGood[] = {CloudErrorClass::kInvalid, CloudErrorClass::kUnsupported,
                                        CloudErrorClass::kConflict, CloudErrorClass::kNotFound};

// Bug: with a mistyped image the same create was made again as often as plans were.
TEST_F(GatesTest, ACreateRefusedForGoodIsTriedRarelyAndLessAndLess) {
  for (const auto cls : kForGood) {
    gates = {};
    ASSERT_TRUE(refuse(call("big"), error(cls), 0s)) << to_string(cls);
    EXPECT_TRUE(shut(call("big"), 45s)) << to_string(cls);
    EXPECT_FALSE(shut(call("small"), 1s)) << "one type blocks another";
    GateQuery elsewhere = call("big");
    elsewhere.zone = "z2";
    EXPECT_FALSE(shut(elsewhere, 1s));
    const auto end = [&] { return gates.all().begin()->second.until.time_since_epoch(); };
    for (Duration when = end(); when < 6h; when = end()) {
      gates.passing(call("big"), Mono(when));
      ASSERT_TRUE(refuse(call("big"), error(cls), when));
    }
    EXPECT_GE(gates.all().begin()->second.record.failures, 12U);
    EXPECT_LE(gates.all().begin()->second.record.failures, 24U) << "no back-off";
  }
}

TEST_F(GatesTest, WhatIsWrongWithACreateIsNothingToOtherCallsAndTheOtherWayRound) {
  for (const auto cls : kForGood) {
    refuse(call("big"), error(cls), 0s);
    for (const auto op : {CloudOp::kStart, CloudOp::kStop, CloudOp::kDestroy, CloudOp::kList}) {
      GateQuery other = call("big");
      other.op = op;
      EXPECT_FALSE(shut(other, 1s)) << to_string(op);
      other.type = "small";
      EXPECT_FALSE(refuse(other, error(cls), 0s)) << to_string(op);
    }
    EXPECT_FALSE(shut(call("small"), 1s));
  }
}

// Bug: after the admin had a quota raised, its gate stayed shut for up to half an hour.
TEST_F(GatesTest, AReloadOpensWhatItMayHaveMendedWithQuotas) {
  refuse(call("big"), error(CloudErrorClass::kInvalid), 0s);
  refuse(call("small"), error(CloudErrorClass::kCapacity), 0s);
  GateQuery gpu = call("gpu");
  gpu.group = "gpus";
  refuse(gpu, error(CloudErrorClass::kQuota), 0s);

  EXPECT_EQ(gates.reloaded().size(), 2U);

  EXPECT_FALSE(shut(call("big"), 1s));
  EXPECT_FALSE(shut(gpu, 1s));
  EXPECT_TRUE(shut(call("small"), 1s)) << "a cloud without stock has none after a reload";
}

TEST_F(GatesTest, AStartOpensWhatTheConfigurationMayHaveMendedAndNoQuota) {
  refuse(call("big"), error(CloudErrorClass::kInvalid), 0s);
  refuse(call("small"), error(CloudErrorClass::kQuota), 0s);

  EXPECT_EQ(gates.restarted().size(), 1U);

  EXPECT_TRUE(shut(call("small"), 1s)) << "a daemon that crashes again and again asks each time";
}

TEST_F(GatesTest, AnAdminOpensOneGateByItsKey) {
  const auto record = *refuse(call("big"), error(CloudErrorClass::kCapacity), 0s);
  refuse(call("small"), error(CloudErrorClass::kCapacity), 0s);
  EXPECT_FALSE(gates.open(record.key + "x"));

  EXPECT_EQ(gates.open(record.key), record);

  EXPECT_FALSE(shut(call("big"), 1s));
  EXPECT_TRUE(shut(call("small"), 1s));
  EXPECT_FALSE(gates.open(record.key)) << "it is open";
  EXPECT_EQ(refuse(call("big"), error(CloudErrorClass::kCapacity), 2s)->failures, 1U);
}

TEST_F(GatesTest, CountedInternalErrorsAreNoGateToOpen) {
  refuse(call("big"), error(CloudErrorClass::kInternal), 0s);
  ASSERT_EQ(gates.all().size(), 1U);
  EXPECT_FALSE(gates.open(gates.all().begin()->first));
}

TEST_F(GatesTest, ARestartTakesUpTheTimeThatIsLeftButNoMoreThanItsLongestBackOff) {
  auto record = *refuse(call("big"), error(CloudErrorClass::kQuota, 0, 100s), 0s);

  Gates restarted;
  restarted.restore(record, {Mono(5s), Wall{} + 40s});
  EXPECT_TRUE(restarted.shut(call("big"), Mono(64s)));
  EXPECT_FALSE(restarted.shut(call("big"), Mono(65s)));

  record.until = Wall{INT64_MAX / 2000};
  restarted.restore(record, at(0s));
  EXPECT_TRUE(restarted.shut(call("big"), Mono(2249s)));
  EXPECT_FALSE(restarted.shut(call("big"), Mono(2250s))) << "a wall clock that jumped";
}

TEST(GatedClassesTest, AreThoseOfWhichAnErrorOfACreateShutsAGate) {
  Random random{1};
  std::vector<CloudErrorClass> found;
  for (int i = 0; i < model::kCloudErrorClasses; ++i) {
    CloudError error;
    error.cls = static_cast<CloudErrorClass>(i);
    Gates gates;
    bool shuts = false;
    for (int n = 0; n < 5; ++n)
      shuts |= gates.refuse({.set = "west", .op = CloudOp::kCreate}, error, {}, random).has_value();
    if (shuts) found.push_back(error.cls);
  }
  EXPECT_EQ(gated_classes(), found);
}

TEST_F(GatesTest, AnAbsurdRetryTimeIsCut) {
  refuse(call("big"), error(CloudErrorClass::kRateLimit, 0, Duration::max()), 0s);
  EXPECT_TRUE(shut(call("big"), 24h - 1s));
  EXPECT_FALSE(shut(call("big"), 24h));
}

}  // namespace
}  // namespace hostler::gates
