// A simulated cloud behaves as a recorded one did.
#include "core/simulation/recorded_cloud.h"

#include <gmock/gmock.h>

#include "core/simulation/read_scenario.h"
#include "core/simulation/simulation.h"
#include "tests/temp_folder.h"

namespace hostler::simulation {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

/// Writes a recording, a call for each call.
class Tape {
 public:
  Tape& call(const std::string& function, const std::string& status, Duration start, Duration took,
             const std::string& more) {
    const auto us = [](Duration d) {
      return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(d).count());
    };
    const bool ok = status == "ok";
    text_ += R"({"n":)" + std::to_string(++calls_) + R"(,"set":"west","start_us":)" + us(start) +
             R"(,"took_us":)" + us(took) + R"(,"call":")" + function + R"(","status":")" + status +
             "\"" + (ok ? "" : ",\"error\":{}") + "," + more + "}\n";
    return *this;
  }
  Tape& create(const std::string& id, Duration start, Duration took) {
    return call("create", "ok", start, took, R"("request":{},"records":[{"id":")" + id + R"("}])");
  }
  Tape& list(Duration at, const std::string& records, const std::string& gone = "") {
    return call("list", "ok", at, {}, R"("request":{},"records":[)" + records + "]" + gone);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_ =
      R"({"recording":1,"set":"west","driver":"ec2","began":"2026-03-01T12:00:00Z"})"
      "\n";
  int calls_ = 0;
};

std::string running(const std::string& id) {
  return R"({"id":")" + id + R"(","state":"running","address":"192.0.2.1"})";
}
std::string destroy_of(const std::string& id) {
  return R"("request":{"id":")" + id + R"("},"records":[])";
}

class RecordedCloudTest : public testing::Test {
 protected:
  CloudModel read(const Tape& tape) {
    const auto model = read_recorded_cloud(folder_.put("tape", tape.text()));
    EXPECT_TRUE(model) << model.error().message;
    return model.value_or(CloudModel{});
  }
  const test::TempFolder folder_;
};

TEST_F(RecordedCloudTest, CreatesBootsAndDestroysTakeAsLongAsTheyDid) {
  Tape tape;
  tape.create("i-1", 0s, 3s).create("i-2", 1s, 4s);
  tape.list(20s, running("i-1")).list(50s, running("i-2"));
  tape.call("destroy", "ok", 60s, 1s, destroy_of("i-1"));
  tape.list(75s, "", R"(,"gone":["i-1"])");
  const CloudModel model = read(tape);

  EXPECT_THAT(model.create.samples, ElementsAre(3s, 4s));
  EXPECT_THAT(model.boot.samples, ElementsAre(17s, 45s));
  EXPECT_THAT(model.destroy.samples, ElementsAre(15s));
  EXPECT_EQ(model.boots_fail, 0);
}

TEST_F(RecordedCloudTest, FailuresAreAsLikelyAsTheyWere) {
  const std::string none = R"("request":{},"records":[])";
  Tape tape;
  tape.create("i-1", 0s, 1s).call("create", "capacity", 1s, 1s, none);
  tape.call("create", "quota", 2s, 1s, none).create("i-2", 3s, 1s);
  tape.call("list", "transient", 5s, 1s, none);
  const CloudModel model = read(tape);

  EXPECT_THAT(model.creates_fail, DoubleEq(0.5));
  EXPECT_THAT(model.calls_fail, DoubleEq(0.2));
}

TEST_F(RecordedCloudTest, AMachineThatWasGivenUpDidNotBootAndOneWithoutWorkSaysNothing) {
  Tape tape;
  tape.create("good", 0s, 1s).create("unused", 1s, 1s).create("dead", 2s, 1s);
  tape.call("destroy", "ok", 5s, 1s, destroy_of("unused")).list(31s, running("good"));
  tape.call("destroy", "ok", 600s, 1s, destroy_of("dead"));

  EXPECT_THAT(read(tape).boots_fail, DoubleEq(0.5));
}

TEST_F(RecordedCloudTest, PricesAreTheLowestOfAllZonesWhereTheyChange) {
  const auto offering = [](const std::string& zone, const std::string& price) {
    return R"({"provider_type":"t3","zone":")" + zone + R"(","market":"spot","price_per_hour":)" +
           price + "}";
  };
  const auto offerings = [&](const std::string& a, const std::string& b) {
    return R"("request":{},"records":[)" + offering("a", a) + "," + offering("b", b) + "]";
  };
  Tape tape;
  tape.call("open", "ok", 0s, 1s, R"("request":{},"records":[{"currency":"USD"}])");
  tape.call("offerings", "ok", 1s, 1s, offerings("0.3", "0.2"));
  tape.call("offerings", "ok", 1h, 1s, offerings("0.4", "0.2"));
  tape.call("offerings", "ok", 2h, 1s, offerings("0.4", "0.5"));
  const CloudModel model = read(tape);

  ASSERT_EQ(model.recorded_prices.size(), 2U);
  EXPECT_EQ(model.recorded_prices[0].at, 2s);
  EXPECT_EQ(model.recorded_prices[0].per_hour, model::Micros{200'000});
  EXPECT_EQ(model.recorded_prices[0].market, model::Market::kSpot);
  EXPECT_EQ(model.recorded_prices[1].per_hour, model::Micros{400'000});
  EXPECT_EQ(model.recorded_currency, "USD");
}

TEST_F(RecordedCloudTest, AScenarioTakesTheRecordingAndItsOwnValuesHold) {
  Tape tape;
  tape.create("i-1", 0s, 3s).list(20s, running("i-1"));
  folder_.put("tape", tape.text());
  const auto parse = [&](const std::string& more) {
    return parse_scenario(
        R"({"version": 1, "load": [], "clouds": {"west": {"recording": "tape")" + more + "}}}",
        folder_.path());
  };

  const auto plain = parse("");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_THAT(plain->clouds.at("west").boot.samples, ElementsAre(17s));
  const auto own = parse(R"(, "boot": "9s", "faults": {"boots_fail": 1})");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_TRUE(own->clouds.at("west").boot.samples.empty());
  EXPECT_EQ(own->clouds.at("west").boot.most, 9s);
  EXPECT_EQ(own->clouds.at("west").boots_fail, 1);
  EXPECT_THAT(own->clouds.at("west").create.samples, ElementsAre(3s));
}

TEST_F(RecordedCloudTest, ADamagedRecordingIsNamedWithItsPlaceInTheScenario) {
  folder_.put("tape", Tape().text() + "nonsense\n");
  const auto scenario = parse_scenario(
      R"({"version": 1, "load": [], "clouds": {"west": {"recording": "tape"}}})", folder_.path());

  ASSERT_FALSE(scenario);
  EXPECT_THAT(scenario.error().message, HasSubstr("clouds.west.recording: "));
  EXPECT_THAT(scenario.error().message, HasSubstr("tape, line 2: "));
}

TEST_F(RecordedCloudTest, TheSimulationPaysWhatTheCloudAskedFor) {
  model::SitePolicy policy;
  policy.currency = "EUR";
  policy.exchange_rates["USD"] = 0.5;
  policy.sets.resize(1);
  policy.sets[0].name = "west";
  policy.types.resize(1);
  policy.types[0].name = policy.types[0].provider_type = "t3";
  policy.types[0].resources = {.vcpus = 1, .gpus = 0, .ram = 1 << 30, .scratch = 0};
  policy.types[0].price_per_hour = {1'000'000};
  policy.pools.resize(1);
  policy.pools[0].name = "default";
  policy.pools[0].sets = {"west"};
  policy.pools[0].types = {"t3"};
  policy.pools[0].sizes.max = 1;
  Scenario scenario;
  scenario.lasts = 2h;
  scenario.arrivals = {{.runs = {.least = 1h, .most = 1h}, .until = 1h, .count = 1}};
  scenario.arrivals[0].shape.needs = {.vcpus = 1, .gpus = 0, .ram = 1 << 20, .scratch = 0};
  const auto cost = [&] {
    const auto report = simulate(scenario, policy);
    EXPECT_TRUE(report) << report.error().message;
    return report ? report->cost : 0;
  };
  const double menu = cost();
  CloudModel& west = scenario.clouds["west"];
  west.recorded_prices = {{.at = {}, .provider_type = "t3", .per_hour = {200'000}}};
  west.recorded_currency = "USD";

  EXPECT_NEAR(cost(), menu / 10, menu / 100) << "0.2 USD are 0.1 EUR";
  west.recorded_currency = "CHF";
  EXPECT_THAT(check_against(scenario, policy).error().message,
              HasSubstr("clouds.west.recording: "));
}

}  // namespace
}  // namespace hostler::simulation
