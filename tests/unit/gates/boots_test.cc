#include "core/gates/boots.h"

#include <gmock/gmock.h>

#include <chrono>

namespace hostler::gates {
namespace {

using namespace std::chrono_literals;
using model::GateRecord;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Now at(Duration since) { return {Mono(since), Wall{} + since}; }

GateQuery boot(std::uint64_t host = 1, const std::string& type = "small") {
  GateQuery out{.set = "west", .type = type, .zone = "z1"};
  out.pool = "default";
  out.image = "img";
  out.instance = {host};
  return out;
}

TEST(BootHistoryTest, ThreeFailuresInARowShutTheGateOfTheirKind) {
  BootHistory history;
  EXPECT_THAT(history.failed(boot(), false, "h-1: no"), IsEmpty());
  EXPECT_THAT(history.failed(boot(), false, "h-2: no"), IsEmpty());
  const auto shut = history.failed(boot(), false, "h-3: no route to host");
  ASSERT_THAT(shut, SizeIs(1));
  EXPECT_EQ(shut[0].key, "west boot pool=default type=small zone=z1 market=on_demand");
  EXPECT_EQ(shut[0].message, "3 new hosts in a row did not come up: h-3: no route to host");
  EXPECT_TRUE(holds(shut[0], boot()));
  EXPECT_FALSE(holds(shut[0], boot(1, "large")));
  GateQuery other = boot();
  other.pool = "other";
  EXPECT_FALSE(holds(shut[0], other));
  other = boot();
  other.market = model::Market::kSpot;
  EXPECT_FALSE(holds(shut[0], other));
}

TEST(BootHistoryTest, ASuccessBetweenBreaksTheRowAndHalfOfTheLastTenShutIt) {
  BootHistory history;
  for (int n = 0; n < 4; ++n) {
    EXPECT_THAT(history.failed(boot(), false, "no"), IsEmpty()) << n;
    history.succeeded(boot());
  }
  EXPECT_THAT(history.failed(boot(), false, "no"), SizeIs(1)) << "5 of 9";
  for (int n = 0; n < 10; ++n) history.succeeded(boot());
  EXPECT_THAT(history.failed(boot(), false, "no"), IsEmpty()) << "only the last ten count";
}

TEST(BootHistoryTest, ThreeInitCommandsInARowShutThePoolForTheImage) {
  BootHistory history;
  EXPECT_THAT(history.failed(boot(1, "small"), true, "no"), IsEmpty());
  EXPECT_THAT(history.failed(boot(2, "large"), true, "no"), IsEmpty());
  const auto shut = history.failed(boot(3, "small"), true, "no");
  ASSERT_THAT(shut, SizeIs(1));
  EXPECT_EQ(shut[0].key, "west boot pool=default image=img");
  EXPECT_TRUE(holds(shut[0], boot(4, "any")));
  GateQuery other = boot();
  other.image = "next";
  EXPECT_FALSE(holds(shut[0], other));
}

TEST(BootHistoryTest, ThreeTypesThatFailShutThePoolForTheImage) {
  BootHistory history;
  EXPECT_THAT(history.failed(boot(1, "small"), false, "no"), IsEmpty());
  EXPECT_THAT(history.failed(boot(2, "large"), false, "no"), IsEmpty());
  const auto shut = history.failed(boot(3, "huge"), false, "no");
  ASSERT_THAT(shut, SizeIs(1));
  EXPECT_EQ(shut[0].image, "img");
}

class BootGateTest : public testing::Test {
 protected:
  /// A boot fails; `kind` has the gates that the history wants shut.
  std::vector<GateRecord> fail(std::uint64_t host, Duration when) {
    auto wanted = history.failed(boot(host), false, "no");
    return gates.boot_failed(boot(host), std::move(wanted), "no", at(when), random);
  }
  void shut_first() {
    for (std::uint64_t host = 1; host <= 3; ++host) fail(host, 0s);
    ASSERT_TRUE(is_shut(0, 20s));
  }
  bool is_shut(std::uint64_t host, Duration when) {
    return gates.shut(boot(host), Mono(when)) != nullptr;
  }
  Duration end() { return gates.all().begin()->second.until.time_since_epoch(); }

  Gates gates;
  BootHistory history;
  Random random{1};
};

TEST_F(BootGateTest, LetsOneHostTryAtATimeUntilItsBootHasEnded) {
  shut_first();
  const Duration open = end();
  EXPECT_FALSE(is_shut(4, open));
  gates.passing(boot(4), Mono(open));
  EXPECT_TRUE(is_shut(5, open));
  EXPECT_TRUE(is_shut(0, open)) << "plans see it shut";
  EXPECT_FALSE(is_shut(4, open)) << "its create may be sent again";

  EXPECT_THAT(gates.succeeded(boot(4)), IsEmpty()) << "a create that passed is no host";
  EXPECT_TRUE(is_shut(5, open + 1h));
  EXPECT_THAT(fail(3, open + 1s), IsEmpty()) << "an older host is not the one that tries";
  EXPECT_TRUE(is_shut(5, open + 1h));

  EXPECT_THAT(fail(4, open + 10min), SizeIs(1));
  EXPECT_TRUE(is_shut(5, open + 10min + 40s)) << "twice as long";
  EXPECT_FALSE(is_shut(5, open + 10min + 80s));
}

TEST_F(BootGateTest, DoublesUpToHalfAnHour) {
  shut_first();
  for (std::uint64_t host = 4; host < 30; ++host) {
    const Duration now = end();
    gates.passing(boot(host), Mono(now));
    ASSERT_THAT(fail(host, now), SizeIs(1));
    EXPECT_LE(end() - now, 30min * 5 / 4);
  }
  EXPECT_GT(gates.all().begin()->second.record.failures, 20U);
}

TEST_F(BootGateTest, OpensWhenAHostComesUpAndOtherwiseAnotherMayTryAfterAPause) {
  shut_first();
  const Duration open = end();
  gates.passing(boot(4), Mono(open));
  gates.boot_unknown(boot(4), at(open));
  EXPECT_TRUE(is_shut(5, open + 1s));
  EXPECT_FALSE(is_shut(5, open + 5s));
  gates.passing(boot(5), Mono(open + 5s));
  EXPECT_THAT(gates.booted(boot(5)),
              ElementsAre("west boot pool=default type=small zone=z1 market=on_demand"));
  EXPECT_FALSE(is_shut(6, open + 6s));
}

TEST_F(BootGateTest, SaysNothingAboutOtherCallsAndTheyNothingAboutIt) {
  shut_first();
  for (const auto op : {model::CloudOp::kStart, model::CloudOp::kDestroy, model::CloudOp::kList}) {
    GateQuery other = boot();
    other.op = op;
    EXPECT_FALSE(gates.shut(other, Mono(1s)));
  }
  const Duration open = end();
  gates.passing(boot(4), Mono(open));
  model::CloudError error;
  error.cls = model::CloudErrorClass::kTransient;
  EXPECT_FALSE(gates.refuse(boot(4), error, at(open), random));
  EXPECT_TRUE(is_shut(5, open + 1h)) << "its create is sent again";
  EXPECT_THAT(gates.reloaded(), IsEmpty());
}

TEST_F(BootGateTest, ARestartTakesItUpWithItsBackOff) {
  shut_first();
  Gates next;
  next.restore(gates.all().begin()->second.record, at(1s));
  EXPECT_TRUE(next.shut(boot(), Mono(20s)));
  gates = next;
  const Duration open = end();
  history = {};
  ASSERT_THAT(fail(9, open), SizeIs(1)) << "the first failure of the new daemon";
  EXPECT_GT(end() - open, 40s);
}

}  // namespace
}  // namespace hostler::gates
