#include <gmock/gmock.h>

#include "core/config/load.h"

namespace hostler::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Reading read_quotas(const std::string& quotas) {
  return read_text(R"({
      "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
      "sets": [{"name": "s", "driver": "local"}],
      "pools": [{"name": "p", "sets": ["s"], "types": ["t"]}])" +
                       quotas + "}",
                   "/", {.surroundings = {.is_root = true}, .state_dir = {}});
}

model::Quotas quotas_of(const std::string& quotas) {
  const Reading reading = read_quotas(quotas);
  EXPECT_TRUE(reading.problems.empty()) << reading.problems[0].message;
  return reading.config.site.quotas;
}

TEST(QuotasTest, SubmittersHaveNoPriorityByDefaultAndNothingElseIsLimited) {
  model::Quotas expected;
  expected.submit.priority_max = 0;

  EXPECT_EQ(quotas_of(""), expected);
  EXPECT_EQ(quotas_of(R"(, "quotas": {"roles": {"submit": {}}})"), expected);
}

TEST(QuotasTest, ReadsEveryKey) {
  const model::Quotas found = quotas_of(R"(, "quotas": {"principals": [{"name": "user ann",
      "jobs_waiting_max": 1, "shapes_waiting_max": 2, "submits_per_minute_max": 3,
      "blob_bytes_max": "4KiB", "output_bytes_max": "5KiB", "priority_max": -6,
      "running_vcpus_max": 7.25, "running_gpus_max": 9, "running_price_per_hour_max": 8.5}]})");

  const model::Quota expected{
      1, 2, 3, 4096, 5120, -6, model::Vcpus::of_thousandths(7250), 9, model::Micros{8'500'000}};
  EXPECT_EQ(found.of("user ann"), expected);
}

TEST(QuotasTest, KeysOfAPrincipalGoBeforeThoseOfItsRoleOneByOne) {
  model::Quotas quotas = quotas_of(R"(, "quotas": {
      "roles": {"submit": {"jobs_waiting_max": 10, "priority_max": 1},
                "admin": {"jobs_waiting_max": 99}},
      "principals": [{"name": "token ci", "jobs_waiting_max": 0},
                     {"name": "token root", "priority_max": 7}]})");
  quotas.roles = {{"token root", model::Role::kAdmin}};

  const auto limits = [&](const char* name) {
    const model::Quota quota = quotas.of(name);
    return std::pair{quota.jobs_waiting_max, quota.priority_max};
  };
  EXPECT_EQ(limits("token ci"), (std::pair{std::optional(0L), std::optional(1L)}));
  EXPECT_EQ(limits("user ann"), (std::pair{std::optional(10L), std::optional(1L)}));
  EXPECT_EQ(limits("token root"), (std::pair{std::optional(99L), std::optional(7L)}));
}

TEST(QuotasTest, RefusesWhatIsNoPrincipalAndNamesTheKey) {
  std::vector<std::string> problems;
  for (const Error& error : read_quotas(R"(, "quotas": {"roles": {"root": {}},
      "principals": [{"name": "ann"}, {"name": "token "}, {"name": "user a"}, {"name": "user a"},
                     {"name": "token t", "jobs_waiting_max": -1, "blob_bytes_max": 5}]})")
                                .problems)
    problems.push_back(error.message);

  EXPECT_THAT(
      problems,
      ElementsAre(HasSubstr("quotas.roles.root"), HasSubstr("quotas.principals[0].name"),
                  HasSubstr("quotas.principals[1].name"), HasSubstr("\"user a\" a second time"),
                  HasSubstr("quotas.principals[4].jobs_waiting_max"),
                  HasSubstr("quotas.principals[4].blob_bytes_max")));
}

}  // namespace
}  // namespace hostler::config
