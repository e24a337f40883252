// Wrong snapshots: each problem has its path, what was found and what is allowed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/planning/read.h"
#include "core/planning/write.h"
#include "tests/unit/planning/plan_text.h"

namespace hostler::planning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> problems_of(const std::string& text) {
  std::vector<std::string> out;
  for (const Error& problem : read_question(text).problems) out.push_back(problem.message);
  return out;
}

/// The problems of the small snapshot with one change.
std::vector<std::string> changed(std::string_view what, std::string_view with) {
  return problems_of(replaced(kSmall, what, with));
}

TEST(InputsTest, SmallSnapshotIsGood) { EXPECT_THAT(problems_of(kSmall), ElementsAre()); }

TEST(InputsTest, TextThatIsNoJsonIsRefusedWithItsPosition) {
  EXPECT_THAT(problems_of("{\"version\": 1,"), ElementsAre(HasSubstr("not JSON")));
  EXPECT_THAT(problems_of(""), ElementsAre(HasSubstr("not JSON")));
  EXPECT_THAT(problems_of("[]"), ElementsAre(HasSubstr("found an array")));
  EXPECT_THAT(problems_of(std::string(3, '\0')), ElementsAre(HasSubstr("NUL")));
}

TEST(InputsTest, DeepNestingIsRefused) {
  const std::string deep = replaced(kSmall, "\"count\": 3", "\"count\": " + std::string(5000, '['));
  EXPECT_THAT(problems_of(deep), ElementsAre(HasSubstr("nested too deeply")));
}

TEST(InputsTest, OtherVersionIsTheOnlyProblemThatIsTold) {
  EXPECT_THAT(changed("\"version\": 1,", "\"version\": 2, \"news\": [],"),
              ElementsAre(AllOf(StartsWith("version: found 2, allowed: 1; a newer hostler"))));
  EXPECT_THAT(changed("\"version\": 1", "\"version\": \"1\""),
              ElementsAre(StartsWith("version: found \"1\", allowed: a whole number")));
  EXPECT_THAT(changed("\"version\": 1,", ""), ElementsAre(StartsWith("version: missing")));
  EXPECT_THAT(changed("\"version\": 1", "\"version\": -1"), ElementsAre(StartsWith("version: ")));
  EXPECT_THAT(changed("\"version\": 1", "\"version\": 1.5"), ElementsAre(StartsWith("version: ")));
}

TEST(InputsTest, UnknownKeysAreRefusedWhereverTheyAre) {
  EXPECT_THAT(changed("\"types\":", "\"kinds\": 1, \"types\":"),
              ElementsAre(StartsWith("kinds: ")));
  EXPECT_THAT(changed("\"max\": 3", "\"max\": 3, \"maxx\": 3"),
              ElementsAre(StartsWith("pools[0].maxx: ")));
  EXPECT_THAT(changed("\"id\": \"h-1\"", "\"id\": \"h-1\", \"used\": {}"),
              ElementsAre(StartsWith("hosts[0].used: ")));
}

TEST(InputsTest, AGangIsExclusiveWorkOfWhichNoMoreWaitThanItHas) {
  EXPECT_THAT(changed("\"exclusive\": true", "\"exclusive\": true, \"gang\": 2"), ElementsAre());
  EXPECT_THAT(changed("\"count\": 3", "\"count\": 3, \"gang\": 3"),
              ElementsAre(StartsWith("work[0].gang: found 3, allowed: ")));
  EXPECT_THAT(changed("\"count\": 1, \"exclusive\": true",
                      "\"count\": 3, \"exclusive\": true, \"gang\": 2"),
              ElementsAre(StartsWith("work[1].gang: found 2, allowed: at least count")));
}

TEST(InputsTest, NegativeHugeAndMissingValuesAreRefused) {
  EXPECT_THAT(
      changed("\"count\": 3", "\"count\": -3"),
      ElementsAre(StartsWith("work[0].count: found -3, allowed: a whole number from 1 to")));
  EXPECT_THAT(changed("\"count\": 3", "\"count\": 1e99"), ElementsAre(StartsWith("work[0].count")));
  EXPECT_THAT(changed("\"count\": 3,", ""), ElementsAre(StartsWith("work[0].count: missing")));
  EXPECT_THAT(
      changed("\"vcpus\": 2, \"ram\": \"4GiB\"", "\"vcpus\": 2147483648, \"ram\": \"4GiB\""),
      ElementsAre(StartsWith("offerings[0].vcpus: found 2147483648")));
  EXPECT_THAT(changed("\"price_per_hour\": 0.05", "\"price_per_hour\": -0.05"),
              ElementsAre(StartsWith("offerings[0].price_per_hour: found -0.05")));
  EXPECT_THAT(changed("\"age\": \"1h\"", "\"age\": \"-1h\""),
              ElementsAre(StartsWith("hosts[0].age: ")));
  EXPECT_THAT(changed("\"age\": \"1h\"", "\"age\": \"99999999h\""),
              ElementsAre(StartsWith("hosts[0].age: ")));
  EXPECT_THAT(changed("\"1GiB\"", "\"9999999TiB\""),
              ElementsAre(StartsWith("work[0].needs.ram: ")));
  EXPECT_THAT(changed("\"max\": 3", "\"max\": 3, \"min\": 4"),
              ElementsAre(StartsWith("pools[0].min: min 4 is above max 3")));
}

TEST(InputsTest, GpusHaveOneFormWhereverTheyAre) {
  std::string text = replaced(kSmall, R"("ram": "4GiB")", R"("ram": "4GiB", "gpus": [
      {"count": 2, "kind": "t4"}, {"count": 4, "kind": "a100", "memory": "40GiB"}])");
  text = replaced(text, R"("vcpus": 2, "ram": "1GiB")",
                  R"("vcpus": 2, "gpus": {"count": 2, "kind": "a100"})");
  const Reading read = read_question(text);
  ASSERT_THAT(read.problems, ElementsAre());
  const auto& offering = read.question.snapshot.offerings[0];
  EXPECT_EQ(offering.resources.gpus, 6);
  EXPECT_THAT(offering.gpus, ElementsAre(model::GpuGroup{"a100", std::int64_t{40} << 30, 4},
                                         model::GpuGroup{"t4", 0, 2}));
  const auto& shape = read.question.snapshot.classes[0].shape;
  EXPECT_EQ(shape.needs.gpus, 2);
  EXPECT_EQ(shape.constraints.gpu, (model::GpuWish{.kind = "a100", .memory = 0}));
  const std::string written = write_question(read.question);
  EXPECT_THAT(written, HasSubstr(R"("gpus":{"count":2,"kind":"a100"}},"priority")"));
  EXPECT_EQ(write_question(read_question(written).question), written);
}

TEST(InputsTest, GpusOfAnotherFormAreRefused) {
  const auto of_work = [](const std::string& gpus) {
    return changed(R"("vcpus": 2, "ram": "1GiB")", "\"gpus\": " + gpus);
  };
  EXPECT_THAT(of_work("0.5"), ElementsAre(StartsWith("work[0].needs.gpus: found 0.5")));
  EXPECT_THAT(of_work(R"([{"count": 1}])"),
              ElementsAre(StartsWith("work[0].needs.gpus: found an array")));
  EXPECT_THAT(of_work(R"({"memory": "40GiB"})"),
              ElementsAre(StartsWith("work[0].needs.gpus.count: missing")));
  EXPECT_THAT(changed(R"("ram": "4GiB")", R"("ram": "4GiB", "gpus": [{"count": 1}, {"count": 2}])"),
              ElementsAre(StartsWith("offerings[0].gpus[1]: found this kind and memory")));
}

TEST(InputsTest, MoreFreeThanThereIsIsRefused) {
  EXPECT_THAT(changed("\"idle_for\": \"5s\"", "\"free\": {\"vcpus\": 3, \"ram\": \"1GiB\"}"),
              ElementsAre(StartsWith("hosts[0].free: more is free than there is, allowed: at most "
                                     "total")));
}

TEST(InputsTest, NamesThatAreNotInTheSnapshotAreRefused) {
  EXPECT_THAT(changed("[{\"work\": \"c-1\"", "[{\"work\": \"c-9\""),
              ElementsAre(StartsWith("hosts[1].load[0].work: found \"c-9\", allowed: an id that "
                                     "work or work_gone")));
  EXPECT_THAT(changed("\"set\": \"west\"", "\"set\": \"east\""),
              ElementsAre(StartsWith("offerings[0].set: found \"east\", which is no set of this "
                                     "snapshot, allowed: west")));
  EXPECT_THAT(changed("\"work\": [{\"id\"",
                      "\"headroom\": {\"pools\": {\"other\": {}}}, \"work\": [{\"id\""),
              ElementsAre(StartsWith("headroom.pools.other: there is no pool \"other\"")));
  EXPECT_THAT(
      problems_of(replaced(replaced(kSmall, "[{\"work\": \"c-1\"", "[{\"work\": \"c-9\""),
                           "\"work\": [{\"id\"", "\"work_gone\": [\"c-9\"], \"work\": [{\"id\"")),
      ElementsAre());
}

/// The problems of what other sources say of the bounds of pool default.
std::vector<std::string> with_bounds(const std::string& said) {
  return changed("\"work\": [{\"id\"",
                 R"("bounds": {"default": [)" + said + R"(]}, "work": [{"id")");
}

TEST(InputsTest, BoundsOfSourcesAreOfTheirForm) {
  const std::string good = R"({"bound": "started_min", "source": "pushed", "number": 2})";
  EXPECT_THAT(with_bounds(good), ElementsAre());
  EXPECT_THAT(with_bounds(R"({"bound": "stopped", "source": "pushed", "holds_for": "1m"})"),
              ElementsAre());
  EXPECT_THAT(with_bounds(good + "," + good),
              ElementsAre(StartsWith("bounds.default[1]: found this bound of source \"pushed\" a "
                                     "second time")));
  EXPECT_THAT(with_bounds(R"({"bound": "most", "source": "pushed"})"),
              ElementsAre(StartsWith(
                  "bounds.default[0].bound: found \"most\", allowed: started_min, started_max")));
  EXPECT_THAT(with_bounds(R"({"bound": "standby", "source": "config", "number": 2})"),
              ElementsAre(StartsWith("bounds.default[0].source: found \"config\", allowed: another "
                                     "source; min, max")));
  EXPECT_THAT(with_bounds(R"({"bound": "standby", "source": "pushed", "number": -1})"),
              ElementsAre(StartsWith("bounds.default[0].number: found -1, allowed: a whole number "
                                     "from 0 to 1000000")));
  EXPECT_THAT(with_bounds(R"({"bound": "standby", "source": "pushed", "holds_for": "0s"})"),
              ElementsAre(StartsWith("bounds.default[0].holds_for: ")));
  EXPECT_THAT(changed("\"work\": [{\"id\"", R"("bounds": {"other": []}, "work": [{"id")"),
              ElementsAre(StartsWith("bounds.other: there is no pool \"other\"")));
}

// Bug: 4,000 more could run on a host of a pool that allows one, and it cost nothing.
TEST(InputsTest, AHostIsAsItsPoolAndItsOfferingSayUnlessTheSnapshotSaysOtherwise) {
  const auto host_of = [](const std::string& text) {
    const Reading read = read_question(text);
    EXPECT_THAT(read.problems, ElementsAre());
    return read.question.snapshot.hosts.empty() ? scheduler::HostView{}
                                                : read.question.snapshot.hosts[0];
  };
  EXPECT_EQ(host_of(kSmall).attempts_left, model::kJobsOnHostMax);
  EXPECT_EQ(host_of(kSmall).price_per_hour, model::Micros{50'000});
  EXPECT_FALSE(host_of(kSmall).can_stop);
  const std::string one =
      replaced(replaced(kSmall, "\"max\": 3", "\"max\": 3, \"attempts_parallel_max\": 1"),
               "\"zone\": \"a\"", "\"zone\": \"a\", \"can_stop\": true");
  EXPECT_EQ(host_of(one).attempts_left, 1);
  EXPECT_EQ(host_of(replaced(kSmall, "\"max\": 3", "\"max\": 3, \"uses_max\": 2")).attempts_left,
            2);
  EXPECT_TRUE(host_of(one).can_stop);
  EXPECT_EQ(host_of(replaced(one, "\"age\": \"1h\"", "\"busy\": true")).attempts_left, 0);
  const auto said = host_of(replaced(
      one, "\"age\": \"1h\"", R"("attempts_left": 7, "price_per_hour": 0, "can_stop": false)"));
  EXPECT_EQ(said.attempts_left, 7);
  EXPECT_EQ(said.price_per_hour, model::Micros{});
  EXPECT_FALSE(said.can_stop);
}

TEST(InputsTest, DuplicateIdsAndNamesAreRefused) {
  EXPECT_THAT(changed("h-2", "h-1"),
              ElementsAre(StartsWith("hosts[1].id: found \"h-1\" a second")));
  EXPECT_THAT(changed("\"c-2\"", "\"c-1\""),
              testing::Contains(StartsWith("work[1].id: found \"c-1\" a second time")));
  EXPECT_THAT(changed("[{\"name\": \"west\"}]", "[{\"name\": \"west\"}, {\"name\": \"west\"}]"),
              ElementsAre(StartsWith("sets[1].name: found \"west\" a second time")));
  EXPECT_THAT(changed("\"max\": 3", "\"max\": 3, \"max\": 4"),
              ElementsAre(HasSubstr("the key occurs twice")));
}

TEST(InputsTest, MoreThanAPlanCanCompareIsRefused) {
  EXPECT_THAT(changed("\"vcpus\": 8", "\"vcpus\": 0.0001"),
              ElementsAre(StartsWith("work[1].needs.vcpus: found 0.0001")));
  std::string offerings, work;
  for (int i = 0; i < 11'000; ++i) {
    const std::string n = std::to_string(i + 10);
    offerings += R"({"id": "o)" + n +
                 R"(", "pool": "default", "set": "west", "type": "small", "price_per_hour": 1},)";
    work += R"({"id": "c-)" + n + R"(", "count": 1},)";
  }
  const std::string many = replaced(replaced(kSmall, "\"work\": [", "\"work\": [" + work),
                                    "\"offerings\": [", "\"offerings\": [" + offerings);
  EXPECT_THAT(problems_of(many),
              ElementsAre(StartsWith("work: found 11002 classes and 11001 offerings, allowed: a "
                                     "product of at most 100000000")));
}

TEST(InputsTest, IdsAreOfTheirForm) {
  for (const char* id : {"c", "c-", "c--1", "c-1x", "j-1", "c-99999999999999999999999"})
    EXPECT_THAT(changed("\"c-2\"", "\"" + std::string(id) + "\""),
                ElementsAre(StartsWith("work[1].id: found \"" + std::string(id))));
  EXPECT_THAT(changed("\"h-2\"", "2"), ElementsAre(StartsWith("hosts[1].id: found 2")));
}

TEST(InputsTest, AllProblemsAreTold) {
  const auto all = problems_of(replaced(
      replaced(replaced(kSmall, "\"count\": 3", "\"count\": 0"), "\"max\": 3", "\"max\": -1"),
      "\"phase\": \"ready\"", "\"phase\": \"up\""));
  EXPECT_THAT(all, ElementsAre(StartsWith("pools[0].max: "), StartsWith("work[0].count: "),
                               StartsWith("hosts[0].phase: ")));
}

}  // namespace
}  // namespace hostler::planning
