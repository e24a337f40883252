#include <gmock/gmock.h>

#include <filesystem>

#include "core/config/load.h"
#include "tests/temp_folder.h"

/// Pools that choose types by their properties, currencies, and files of prices.
namespace hostler::config {
namespace {

using model::Bounds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

Reading read_types(const std::string& types, const std::string& set_keys = "",
                   const std::string& site_keys = "", const std::filesystem::path& folder = "/") {
  const std::string text =
      R"({"state_dir": "/tmp/x", "sets": [{"name": "west", "driver": "local")" + set_keys +
      R"(}], "pools": [{"name": "p", "sets": ["west"], "types": )" + types + "}]" + site_keys + "}";
  return read_text(text, folder, {.surroundings = {}, .state_dir = {}, .trusted_only = false});
}

model::TypeSelector good(const std::string& types) {
  const Reading reading = read_types(types);
  EXPECT_THAT(reading.problems, IsEmpty()) << reading.problems.front().message;
  return reading.config.site.pools.at(0).selector.value();
}

std::string problem(const Reading& reading) {
  return reading.problems.size() == 1 ? reading.problems.front().message
                                      : std::to_string(reading.problems.size()) + " problems";
}

TEST(SelectorTest, ReadsEveryRange) {
  const auto selector = good(R"({"vcpus": "4-64", "gpus": "0", "ram": ">=8GiB",
      "scratch": "<=1GiB", "ram_per_vcpu": "2GiB-4GiB"})");
  EXPECT_EQ(selector.vcpus, (Bounds{4, 64}));
  EXPECT_EQ(selector.gpus.count, (Bounds{0, 0}));
  EXPECT_FALSE(selector.gpus.is_of_group());
  EXPECT_EQ(selector.ram, (Bounds{8 * kGiB, INT64_MAX}));
  EXPECT_EQ(selector.scratch, (Bounds{0, kGiB}));
  EXPECT_EQ(selector.ram_per_vcpu, (Bounds{2 * kGiB, 4 * kGiB}));
}

TEST(SelectorTest, ReadsWhichGpus) {
  const auto gpus = good(R"({"gpus": {"count": "2-8", "kind": "a100", "memory": ">=40GiB"}})").gpus;
  EXPECT_EQ(gpus.count, (Bounds{2, 8}));
  EXPECT_EQ(gpus.kind, "a100");
  EXPECT_EQ(gpus.memory, (Bounds{40 * kGiB, INT64_MAX}));
  EXPECT_TRUE(gpus.is_of_group());
  EXPECT_EQ(good(R"({"gpus": {"count": "4"}})").gpus, good(R"({"gpus": "4"})").gpus);
}

TEST(SelectorTest, RefusesWhatIsNoGpuAndNamesTheKey) {
  for (const char* kind : {"A100", "", "a 100", "a,b"})
    EXPECT_THAT(problem(read_types(R"({"gpus": {"kind": ")" + std::string(kind) + "\"}}")),
                HasSubstr("pools[0].types.gpus.kind: "))
        << kind;
  EXPECT_THAT(problem(read_types(R"({"gpus": {"memory": "40"}})")),
              HasSubstr("pools[0].types.gpus.memory: "));
  EXPECT_THAT(problem(read_types(R"({"gpus": {"count": "0.5"}})")),
              HasSubstr("pools[0].types.gpus.count: "));
  EXPECT_THAT(problem(read_types(R"({"gpus": {"name": "a100"}})")),
              HasSubstr("pools[0].types.gpus"));
  EXPECT_THAT(problem(read_types(R"({"gpus": 4})")), HasSubstr("pools[0].types.gpus: "));
}

TEST(SelectorTest, AnEmptyOneTakesAllOnDemandTypes) {
  const auto selector = good("{}");
  EXPECT_EQ(selector, model::TypeSelector{});
  EXPECT_EQ(selector.market, model::Market::kOnDemand);
}

TEST(SelectorTest, ReadsNamesMarketAndPrice) {
  const auto selector =
      good(R"({"names": ["c*"], "not_names": ["*.metal"], "market": "any", "price_max": 2.5})");
  EXPECT_THAT(selector.names, ElementsAre("c*"));
  EXPECT_THAT(selector.not_names, ElementsAre("*.metal"));
  EXPECT_EQ(selector.market, std::nullopt);
  EXPECT_EQ(selector.price_max, model::Micros{2'500'000});
}

TEST(SelectorTest, RefusesWhatIsNoRangeAndNamesTheKey) {
  for (const char* bad : {"", "-", "4-", "-4", "four", ">4", "=4", ">=", "4-8-16", " 4", "4 - 8",
                          "99999999999999999999", "0x4"}) {
    const auto found = problem(read_types("{\"vcpus\": \"" + std::string(bad) + "\"}"));
    EXPECT_THAT(found, HasSubstr("pools[0].types.vcpus: ")) << bad;
  }
  EXPECT_THAT(problem(read_types(R"({"vcpus": "64-4"})")), HasSubstr("the first is above"));
  EXPECT_THAT(problem(read_types(R"({"ram": "8"})")), HasSubstr("pools[0].types.ram: "));
  EXPECT_THAT(problem(read_types(R"({"cores": "8"})")), HasSubstr("pools[0].types"));
  EXPECT_THAT(problem(read_types(R"({"market": "both"})")), HasSubstr("pools[0].types.market"));
}

TEST(SelectorTest, AListOfNamesStaysAsItIs) {
  const Reading reading = read_types(
      R"(["a"])", "", R"(, "types": [{"name": "a", "vcpus": 1, "ram": "1GiB", "price": 1}])");
  EXPECT_THAT(reading.problems, IsEmpty());
  EXPECT_FALSE(reading.config.site.pools.at(0).selector);
  EXPECT_THAT(problem(read_types(R"([])")), HasSubstr("at least one"));
  EXPECT_THAT(problem(read_types("4")), HasSubstr("pools[0].types"));
}

TEST(SelectorTest, ThePoolsParametersAreThoseOfChosenTypes) {
  const Reading reading = read_types(R"({}, "image_id": "i-1", "provider_params": {"a": 1})");
  EXPECT_THAT(reading.problems, IsEmpty());
  const auto& pool = reading.config.site.pools.at(0);
  EXPECT_EQ(pool.image_id, "i-1");
  EXPECT_EQ(pool.selector->provider_params_json, R"({"a":1})");
}

TEST(CurrencyKeysTest, RatesNeedACurrency) {
  EXPECT_THAT(problem(read_types("{}", "", R"(, "exchange_rates": {"EUR": 1.1})")),
              HasSubstr("exchange_rates: it needs `currency`"));
  EXPECT_THAT(problem(read_types("{}", "", R"(, "currency": "dollar")")), HasSubstr("currency: "));
  EXPECT_THAT(problem(read_types("{}", "", R"(, "currency": "USD", "exchange_rates": {"EUR": 0})")),
              HasSubstr("exchange_rates.EUR: "));
}

class PricesFileTest : public testing::Test {
 protected:
  Reading read_prices(const std::string& content, const std::string& site_keys = "") {
    folder_.put("prices.json", content);
    return read_types("{}", R"(, "prices_file": "prices.json")", site_keys, folder_.path());
  }
  const test::TempFolder folder_;
};

TEST_F(PricesFileTest, IsReadInOrderAndConverted) {
  const Reading reading = read_prices(
      R"({"prices": [
        {"provider_type": "b", "price_per_hour": 2, "currency": "EUR"},
        {"provider_type": "a", "zone": "z", "market": "spot", "price_per_hour": 1, "currency": "USD"}]})",
      R"(, "currency": "USD", "exchange_rates": {"EUR": 1.5})");
  EXPECT_THAT(reading.problems, IsEmpty());
  EXPECT_THAT(reading.config.site.sets.at(0).file_prices,
              ElementsAre(model::FilePrice{"a", model::Market::kSpot, "z", {1'000'000}},
                          model::FilePrice{"b", model::Market::kOnDemand, "", {3'000'000}}));
}

TEST_F(PricesFileTest, HasThePriceOfVolumesUnlessTheSetSaysOne) {
  const char* const file = R"({"prices": [],
        "volume_price": {"price_per_hour": 0.0001, "currency": "EUR"}})";
  const char* const rates = R"(, "currency": "USD", "exchange_rates": {"EUR": 1.5})";
  EXPECT_EQ(read_prices(file, rates).config.site.sets.at(0).volume_price, model::Micros{150});
  const Reading own = read_types("{}", R"(, "prices_file": "prices.json", "volume_price": 0.0002)",
                                 rates, folder_.path());
  EXPECT_EQ(own.config.site.sets.at(0).volume_price, model::Micros{200});
  EXPECT_THAT(problem(read_prices(file, R"(, "currency": "USD")")),
              HasSubstr("volume_price.currency"));
}

TEST_F(PricesFileTest, ACurrencyWithoutARateIsAnErrorThatNamesTheEntry) {
  const auto found = problem(
      read_prices(R"({"prices": [{"provider_type": "b", "price_per_hour": 2, "currency": "EUR"}]})",
                  R"(, "currency": "USD")"));
  EXPECT_THAT(found, HasSubstr("sets[0].prices_file: "));
  EXPECT_THAT(found, HasSubstr("prices[0].currency"));
  EXPECT_THAT(found, HasSubstr("no rate for EUR"));
}

TEST_F(PricesFileTest, WhatIsNoFileOfPricesIsRefused) {
  EXPECT_THAT(problem(read_prices("[]")), HasSubstr("prices_file"));
  EXPECT_THAT(problem(read_prices("{")), HasSubstr("prices_file"));
  EXPECT_THAT(problem(read_prices(R"({"prices": [{"provider_type": "b", "currency": "USD"}]})")),
              HasSubstr("price_per_hour"));
  EXPECT_THAT(problem(read_prices(R"({"prices": [
        {"provider_type": "b", "price_per_hour": -2, "currency": "USD"}]})")),
              HasSubstr("prices[0].price_per_hour"));
  EXPECT_THAT(problem(read_prices(R"({"prices": [
        {"provider_type": "b", "price_per_hour": 2, "currency": "USD"},
        {"provider_type": "b", "price_per_hour": 3, "currency": "USD"}]})")),
              HasSubstr("two prices"));
  EXPECT_THAT(problem(read_types("{}", R"(, "prices_file": "none.json")", "", folder_.path())),
              HasSubstr("none.json"));
}

}  // namespace
}  // namespace hostler::config
