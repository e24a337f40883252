#include <gtest/gtest.h>

#include <array>

#include "core/base/text.h"
#include "core/gates/gates.h"

/// What a gate holds, by the scope of the error and what the refused call names.
namespace hostler::gates {
namespace {

using namespace std::chrono_literals;
using model::CloudError;
using model::CloudErrorClass;
using model::CloudOp;
using model::Market;
namespace scope = model::scope;

constexpr Now kNow{Mono(1h), Wall{3'600'000'000}};

/// A create of `type`, as hostler makes them: no subnet, and no zone unless the menu has zones.
GateQuery create(std::string type, std::string zone = "") {
  return {.set = "west", .op = CloudOp::kCreate, .type = std::move(type), .zone = std::move(zone)};
}

CloudError refusal(CloudErrorClass cls, std::uint32_t bits) {
  CloudError out;
  out.cls = cls;
  out.scope = bits;
  out.message = "no";
  return out;
}

CloudError no_stock_in_subnet_a(std::uint32_t more = 0) {
  auto out = refusal(CloudErrorClass::kCapacity, scope::kSubnet | more);
  out.subnet = "subnet-a";
  return out;
}

class GateScopesTest : public testing::Test {
 protected:
  auto refuse(const GateQuery& call, const CloudError& error, Duration when = 0s) {
    return gates.refuse(call, error, {kNow.mono + when, kNow.wall + when}, random);
  }
  bool shut(const GateQuery& call, Duration when = 1s) const {
    return gates.shut(call, kNow.mono + when) != nullptr;
  }

  Gates gates;
  Random random{1};
};

// Bug: the gate was for "no subnet", which is every create of hostler's: one full subnet shut every
// type of the market.
TEST_F(GateScopesTest, AFullSubnetShutsOnlyWhatWasRefused) {
  ASSERT_TRUE(refuse(create("big"), no_stock_in_subnet_a()));

  EXPECT_TRUE(shut(create("big"))) << "the driver may choose the same subnet again";
  EXPECT_FALSE(shut(create("small")));
  EXPECT_FALSE(shut(create("big", "z2"))) << "another zone has other subnets";
  GateQuery named = create("big");
  named.subnet = "subnet-a";
  EXPECT_TRUE(shut(named));
  named.subnet = "subnet-b";
  EXPECT_FALSE(shut(named)) << "the text means exactly this subnet";
}

TEST_F(GateScopesTest, CredentialsThatMayNotMakeOneTypeShutCreatesOfThisTypeOnly) {
  ASSERT_TRUE(
      refuse(create("big"), refusal(CloudErrorClass::kAuth, scope::kOperation | scope::kType)));

  EXPECT_TRUE(shut(create("big", "z2")));
  EXPECT_FALSE(shut(create("small")));
  EXPECT_FALSE(shut({.set = "west", .op = CloudOp::kList}));
  EXPECT_FALSE(shut({.set = "west", .op = CloudOp::kDestroy, .type = "big"}));
}

TEST_F(GateScopesTest, ASubnetThatTheDriverDoesNotNameShutsOnlyWhatWasRefusedToo) {
  ASSERT_TRUE(refuse(create("big"), refusal(CloudErrorClass::kCapacity, scope::kSubnet)));

  EXPECT_TRUE(shut(create("big")));
  EXPECT_FALSE(shut(create("small")));
}

TEST_F(GateScopesTest, AnotherSubnetEachTimeIsOneGateWithBackOff) {
  auto error = no_stock_in_subnet_a();
  ASSERT_TRUE(refuse(create("big"), error));
  for (int n = 0; n < 6; ++n) {
    const auto& gate = gates.all().begin()->second;
    const Duration end = gate.until - kNow.mono;
    error.subnet = "subnet-" + std::to_string(n);
    gates.passing(create("big"), kNow.mono + end);
    ASSERT_TRUE(refuse(create("big"), error, end));
    EXPECT_EQ(gates.all().size(), 1U) << "a driver fills the journal";
    EXPECT_EQ(gate.record.subnet, error.subnet) << "the last one is shown";
  }
  EXPECT_GT(gates.all().begin()->second.until - kNow.mono, 20min) << "no back-off";
}

TEST_F(GateScopesTest, AZoneThatTheDriverChoseIsShutForTheRefusedTypeOnly) {
  auto error = refusal(CloudErrorClass::kCapacity, scope::kZone);
  error.zone = "z1";
  ASSERT_TRUE(refuse(create("big"), error));

  EXPECT_TRUE(shut(create("big")));
  EXPECT_TRUE(shut(create("big", "z1")));
  EXPECT_FALSE(shut(create("big", "z2")));
  EXPECT_FALSE(shut(create("small")));
}

TEST_F(GateScopesTest, AZoneThatTheCallNamesIsShutForAllItsTypes) {
  auto error = refusal(CloudErrorClass::kCapacity, scope::kZone);
  error.zone = "z1";
  ASSERT_TRUE(refuse(create("big", "z1"), error));

  EXPECT_TRUE(shut(create("small", "z1")));
  EXPECT_FALSE(shut(create("small", "z2")));
  EXPECT_FALSE(shut(create("small"))) << "the driver may choose another zone";
}

TEST_F(GateScopesTest, ATextThatContradictsTheCallIsIgnored) {
  auto error = refusal(CloudErrorClass::kCapacity, scope::kZone | scope::kType);
  error.zone = "z9", error.type = "provider.big";
  const auto record = refuse(create("big", "z1"), error);

  ASSERT_TRUE(record);
  EXPECT_EQ(record->zone, "z1");
  EXPECT_EQ(record->type, "big");
  EXPECT_TRUE(shut(create("big", "z1")));
  EXPECT_FALSE(shut(create("big", "z9"))) << "nothing was refused there";
}

TEST_F(GateScopesTest, AGroupThatHostlerDoesNotKnowShutsTheTypeUntilSomethingIsDestroyed) {
  auto error = refusal(CloudErrorClass::kQuota, scope::kGroup);
  error.group = "gpus";
  const auto record = refuse(create("big"), error);

  ASSERT_TRUE(record);
  EXPECT_EQ(record->group, "gpus");
  EXPECT_TRUE(shut(create("big")));
  EXPECT_FALSE(shut(create("small")));
  GateQuery grouped = create("big");
  grouped.group = "gpus";
  EXPECT_TRUE(shut(grouped)) << "the driver told its group later";
  EXPECT_EQ(gates.destroyed("west", "").size(), 1U) << "it may have been of the group";
}

TEST_F(GateScopesTest, ARegionIsThatOfTheSetWhoeverNamesIt) {
  auto error = refusal(CloudErrorClass::kRateLimit, scope::kRegion);
  error.region = "r1";
  error.retry_after = 60s;
  ASSERT_TRUE(refuse(create("big"), error));

  EXPECT_TRUE(shut(create("small")));
  EXPECT_TRUE(shut({.set = "west", .op = CloudOp::kList}));
  GateQuery moved = create("big");
  moved.region = "r2";
  EXPECT_FALSE(shut(moved)) << "the set was moved to another region";
}

TEST_F(GateScopesTest, TextsOfADriverAreShortAndFitToPrint) {
  auto error = no_stock_in_subnet_a();
  error.subnet = "a\nb\x1b[2J\xff" + std::string(5000, 'x');
  const auto record = refuse(create("big"), error);

  ASSERT_TRUE(record);
  EXPECT_LE(record->subnet.size(), 131U);
  EXPECT_EQ(record->subnet, printable(record->subnet));
  EXPECT_EQ(record->key.find('x'), std::string::npos) << "nothing of it is in the key";
  EXPECT_TRUE(shut(create("big")));
}

// Bug: a shortage "of spot" was one of the request's type and zone only.
TEST_F(GateScopesTest, TheMarketAloneIsAllOfIt) {
  for (const auto cls : {CloudErrorClass::kCapacity, CloudErrorClass::kQuota}) {
    Gates fresh;
    GateQuery spot = create("big", "z1");
    spot.market = Market::kSpot;
    ASSERT_TRUE(fresh.refuse(spot, refusal(cls, scope::kMarket), kNow, random));

    GateQuery other = create("small", "z2");
    EXPECT_FALSE(fresh.shut(other, kNow.mono)) << "on demand goes on";
    other.market = Market::kSpot;
    EXPECT_TRUE(fresh.shut(other, kNow.mono));
  }
}

TEST_F(GateScopesTest, TheOperationAloneNarrowsWhatNothingSaidMeans) {
  ASSERT_TRUE(refuse(create("big", "z1"), refusal(CloudErrorClass::kCapacity, scope::kOperation)));

  EXPECT_TRUE(shut(create("big", "z1")));
  EXPECT_FALSE(shut(create("small", "z1")));
  EXPECT_FALSE(shut(create("big", "z2")));
}

// Bug: the gate was for "no type", which no create has: a rate limit that a list met with a type
// in its scope held no create.
TEST_F(GateScopesTest, AListHasNoTypeToBeNarrowedBy) {
  const GateQuery list{.set = "west", .op = CloudOp::kList};
  for (const std::uint32_t bit : {scope::kType, scope::kZone, scope::kMarket, scope::kImage}) {
    Gates fresh;
    auto error = refusal(CloudErrorClass::kRateLimit, bit);
    error.type = error.zone = error.image = "any";
    ASSERT_TRUE(fresh.refuse(list, error, kNow, random));
    EXPECT_TRUE(fresh.shut(list, kNow.mono)) << bit;
    EXPECT_TRUE(fresh.shut(create("big"), kNow.mono)) << bit;

    Gates narrow;
    error.scope |= scope::kOperation;
    ASSERT_TRUE(narrow.refuse(list, error, kNow, random));
    EXPECT_TRUE(narrow.shut(list, kNow.mono)) << bit;
    EXPECT_FALSE(narrow.shut(create("big"), kNow.mono)) << bit;
  }
}

TEST_F(GateScopesTest, AnImageThatIsNotThereShutsAllTypesOfItAndNoOthers) {
  GateQuery call = create("big", "z1");
  call.image = "debain-12";
  const auto record = refuse(call, refusal(CloudErrorClass::kNotFound, scope::kImage));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->image, "debain-12");

  GateQuery other = create("small", "z2");
  EXPECT_FALSE(shut(other));
  other.image = "debain-12";
  EXPECT_TRUE(shut(other));
  other.image = "debian-12";
  EXPECT_FALSE(shut(other));
}

TEST_F(GateScopesTest, AnImageThatTheDriverChoseShutsOnlyWhatWasRefused) {
  auto error = refusal(CloudErrorClass::kNotFound, scope::kImage);
  error.image = "img-1";
  ASSERT_TRUE(refuse(create("big"), error));

  EXPECT_TRUE(shut(create("big"))) << "the driver may choose the same image again";
  EXPECT_FALSE(shut(create("small")));
  GateQuery named = create("big");
  named.image = "img-2";
  EXPECT_FALSE(shut(named));
}

/// Every combination of scope bits, values that the call names, and texts of the driver, for errors
/// of different classes.
template <class Check>
void for_each_refusal(std::uint32_t bits_of, const Check& check) {
  constexpr std::array kClasses{CloudErrorClass::kCapacity, CloudErrorClass::kQuota,
                                CloudErrorClass::kRateLimit};
  constexpr std::uint32_t kNamed = 64, kBits = 512;
  for (std::uint32_t n = 0; n < std::size(kClasses) * kBits * kNamed * 3; ++n) {
    const std::uint32_t named = n % kNamed, bits = n / kNamed % kBits;
    if ((bits & ~bits_of) != 0) continue;
    const auto value = [&](std::uint32_t bit) {
      return std::string((named & bit) != 0 ? "same" : "");
    };
    const GateQuery call{.set = "west",
                         .op = CloudOp::kCreate,
                         .type = value(1),
                         .group = value(2),
                         .zone = value(4),
                         .subnet = value(8),
                         .region = value(16),
                         .market = Market::kSpot,
                         .image = value(32)};
    auto error = refusal(kClasses.at(n / kNamed / kBits % std::size(kClasses)), bits);
    constexpr std::array kTexts{"", "same", "other"};
    error.type = error.group = error.zone = error.subnet = error.region = error.image =
        kTexts.at(n / kNamed / kBits / std::size(kClasses));
    check(call, error);
  }
}
constexpr std::uint32_t kAllBits = 0x1ff;
/// Those that have a text.
constexpr std::uint32_t kTextBits =
    scope::kType | scope::kGroup | scope::kZone | scope::kSubnet | scope::kRegion | scope::kImage;

std::string text_of(const GateQuery& call, const CloudError& error) {
  return std::string(to_string(error.cls)) + ", scope " + std::to_string(error.scope) + ", text '" +
         error.zone + "', call type=" + call.type + " group=" + call.group + " zone=" + call.zone +
         " subnet=" + call.subnet + " region=" + call.region + " image=" + call.image;
}

TEST(AllGateScopesTest, TheRefusedCallIsWithinItsGateNowAndAfterARestart) {
  for_each_refusal(kAllBits, [](const GateQuery& call, const CloudError& error) {
    Gates gates;
    Random random{1};
    const auto record = gates.refuse(call, error, kNow, random);
    ASSERT_TRUE(record) << text_of(call, error);
    EXPECT_TRUE(holds(*record, call)) << text_of(call, error);
    EXPECT_TRUE(gates.shut(call, kNow.mono)) << text_of(call, error);
    Gates restarted;
    restarted.restore(*record, kNow);
    EXPECT_TRUE(restarted.shut(call, kNow.mono)) << text_of(call, error);
  });
}

TEST(AllGateScopesTest, WhatTheCallLeftToTheDriverShutsNoOtherType) {
  for_each_refusal(kTextBits, [](const GateQuery& call, const CloudError& error) {
    const auto left = [&](std::uint32_t bit, const std::string& named) {
      return (error.scope & bit) != 0 && named.empty();
    };
    if (!left(scope::kZone, call.zone) && !left(scope::kSubnet, call.subnet) &&
        !left(scope::kGroup, call.group) && !left(scope::kImage, call.image))
      return;
    Gates gates;
    Random random{1};
    gates.refuse(call, error, kNow, random);
    GateQuery other = call;
    other.type = "another";
    EXPECT_FALSE(gates.shut(other, kNow.mono)) << text_of(call, error);
  });
}

TEST(AllGateScopesTest, AScopeHoldsNoCallThatNamesSomethingElseThere) {
  for_each_refusal(kTextBits, [](const GateQuery& call, const CloudError& error) {
    Gates gates;
    Random random{1};
    gates.refuse(call, error, kNow, random);
    const auto passes = [&](std::uint32_t bit, std::string GateQuery::*of_call) {
      GateQuery other = call;
      other.*of_call = "elsewhere";
      return (error.scope & bit) == 0 || gates.shut(other, kNow.mono) == nullptr;
    };
    EXPECT_TRUE(passes(scope::kType, &GateQuery::type)) << text_of(call, error);
    EXPECT_TRUE(passes(scope::kZone, &GateQuery::zone)) << text_of(call, error);
    if (!call.subnet.empty() || !error.subnet.empty()) {
      EXPECT_TRUE(passes(scope::kSubnet, &GateQuery::subnet)) << text_of(call, error);
    }
    if (!call.image.empty() || !error.image.empty()) {
      EXPECT_TRUE(passes(scope::kImage, &GateQuery::image)) << text_of(call, error);
    }
  });
}

TEST(AllGateScopesTest, TheKeyHasNothingOfTheDriversTexts) {
  for_each_refusal(kTextBits, [](const GateQuery& call, const CloudError& error) {
    Gates gates;
    Random random{1};
    const auto record = gates.refuse(call, error, kNow, random);
    EXPECT_EQ(record->key.find("other"), std::string::npos) << text_of(call, error);
  });
}

}  // namespace
}  // namespace hostler::gates
