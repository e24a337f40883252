#include <gmock/gmock.h>

#include "core/base/masked.h"
#include "sdk/check/options.h"
#include "sdk/check/settings.h"
#include "tests/temp_folder.h"

namespace hostler::check {
namespace {

Result<Settings> read(const std::string& text) {
  const test::TempFolder folder;
  return read_settings("driver.so", folder.put("driver-check.json", text));
}

Result<std::optional<Options>> options_of(std::vector<std::string> words) {
  words.insert(words.begin(), "driver-check");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::optind = 0;
  return read_options(static_cast<int>(words.size()), argv.data());
}

TEST(SettingsTest, MakesNoMachineInACloudThatIsNotSaidToBeForTests) {
  EXPECT_TRUE(read("{}")->is_test_cloud);
  EXPECT_FALSE(read(R"({"config": {"region": "a"}})")->is_test_cloud);
  EXPECT_FALSE(read(R"({"credentials": {"token": "secret"}})")->is_test_cloud);
  EXPECT_TRUE(read(R"({"config": {}, "test_cloud": true})")->is_test_cloud);
}

TEST(SettingsTest, NamesWhatIsWrong) {
  EXPECT_THAT(read(R"({"quirks": {"odd": "yes"}})").error().message,
              testing::HasSubstr("quirks.odd"));
  EXPECT_THAT(read(R"({"endpoint": "x"})").error().message, testing::HasSubstr("endpoints"));
  EXPECT_THAT(read("[").error().message, testing::HasSubstr("driver-check.json"));
}

TEST(SettingsTest, KeepsQuirksToPrintThem) {
  const auto settings = read(R"({"quirks": {"list_consistency": "30s", "no_set_tags": "fixed"}})");

  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->consistency, Duration(std::chrono::seconds(30)));
  EXPECT_TRUE(settings->cannot_set_tags);
  EXPECT_THAT(settings->quirks, testing::ElementsAre(testing::Pair("list_consistency", "30s"),
                                                     testing::Pair("no_set_tags", "fixed")));
}

TEST(SettingsTest, ReadsTheLimitsOfTheCloud) {
  const auto settings = read(R"({"rate": 0.5, "quota": 5})");
  EXPECT_EQ(settings->rate, 0.5);
  EXPECT_EQ(settings->quota, 5);
  EXPECT_EQ(read("{}")->rate, 0);
  EXPECT_EQ(read("{}")->quota, 0);
  EXPECT_THAT(read(R"({"rate": 0})").error().message, testing::HasSubstr("rate"));
  EXPECT_THAT(read(R"({"quota": 0})").error().message, testing::HasSubstr("quota"));
}

TEST(SettingsTest, MasksEverySecretAndNoOtherText) {
  const auto settings =
      read(R"({"credentials": {"user": "ann", "keys": ["secret-1", {"deep": "secret-12"}]}})");
  const auto secrets = secrets_of(*settings);

  EXPECT_EQ(masked("ann said secret-12, secret-1 and secret-1secret-1", secrets),
            "ann said ***, *** and ******");
  EXPECT_EQ(masked("", secrets), "");
}

TEST(SettingsTest, DoesNotQuoteCredentialsThatAreNoObject) {
  EXPECT_THAT(read(R"({"credentials": "top-secret"})").error().message,
              testing::AllOf(testing::HasSubstr("credentials"),
                             testing::Not(testing::HasSubstr("top-secret"))));
}

TEST(SettingsTest, MakesFalseCredentialsOfTheSameForm) {
  EXPECT_EQ(false_credentials(R"({"a": "real", "b": [1, {"c": "secret"}]})"),
            R"({"a":"kit-canary-a-4","b":[1,{"c":"kit-canary-c-6"}]})");
  EXPECT_THAT(false_credentials(""), testing::HasSubstr("kit-canary-token"));
}

TEST(SettingsTest, ReplacesOneValueOfTheConfig) {
  const std::string config = R"({"a":1,"endpoint":"http://x","b":[true]})";
  EXPECT_EQ(text_at(config, "endpoint"), "http://x");
  EXPECT_EQ(text_at(config, "a"), "");
  EXPECT_EQ(with_text(config, "endpoint", "y"), R"({"a":1,"b":[true],"endpoint":"y"})");
  EXPECT_EQ(with_value(config, "a", "[2]"), R"({"endpoint":"http://x","b":[true],"a":[2]})");
  EXPECT_EQ(with_value(config, "endpoint", ""), R"({"a":1,"b":[true]})");
}

TEST(OptionsTest, ReadsWhatIsDocumented) {
  const auto options = options_of({"--only", "call.*", "--only", "open.*", "--seed", "7",
                                   "--format", "junit", "--live", "--budget", "2", "x.so"});
  ASSERT_TRUE(options && *options);
  EXPECT_THAT((*options)->only, testing::ElementsAre("call.*", "open.*"));
  EXPECT_EQ((*options)->seed, 7U);
  EXPECT_TRUE((*options)->is_live);
  EXPECT_EQ((*options)->budget, 2);
  EXPECT_EQ((*options)->library, "x.so");
}

TEST(OptionsTest, RefusesWhatCannotBeMeant) {
  for (const auto& words : std::vector<std::vector<std::string>>{{},
                                                                 {"a.so", "b.so"},
                                                                 {"--budget", "101", "a.so"},
                                                                 {"--budget", "0", "a.so"},
                                                                 {"--deadline", "0s", "a.so"},
                                                                 {"--seed", "x", "a.so"},
                                                                 {"--no-such-option", "a.so"},
                                                                 {"a.so", "--config"}})
    EXPECT_FALSE(options_of(words)) << testing::PrintToString(words);
}

}  // namespace
}  // namespace hostler::check
