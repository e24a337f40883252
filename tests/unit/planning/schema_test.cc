#include "core/json/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/planning/read.h"
#include "core/planning/write.h"
#include "tests/unit/planning/plan_text.h"
#include "tests/unit/scheduler/random_bounds.h"
#include "tests/unit/scheduler/random_scaling.h"

/// The published schemas agree with what is read and written.
namespace hostler::planning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> violations(const char* schema, const std::string& value) {
  const auto text = read_file(std::string(HOSTLER_CONFIG_DIR) + "/" + schema, 1 << 20);
  if (!text) return {text.error().message};
  const auto problems = json::schema_problems(*text, value);
  return problems ? *problems : std::vector{problems.error().message};
}

TEST(SchemaTest, SnapshotsAndAnswersThatAreWrittenKeepTheirSchemas) {
  EXPECT_THAT(violations("plan.schema.json", kSmall), ElementsAre());
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    scheduler::RandomWorld world(seed);
    for (auto& pool : world.policy.pools) pool.sizes.min = std::min(pool.sizes.min, pool.sizes.max);
    world.snapshot.bounds =
        scheduler::random_bounds(world.random, world.policy.pools.size(), world.snapshot.now);
    if (seed % 2 == 0) world.lend();
    if (seed % 3 == 0) scheduler::scale(world);
    const Question question{world.policy, world.snapshot, Wall{1'700'000'000'000'000}};
    EXPECT_THAT(violations("plan.schema.json", write_question(question)), ElementsAre()) << seed;
    EXPECT_THAT(violations("plan-answer.schema.json", text_of_plan(question)), ElementsAre())
        << seed;
  }
}

TEST(SchemaTest, KindsOfGpusKeepTheirSchemas) {
  std::string text = replaced(kSmall, R"("ram": "4GiB")", R"("ram": "4GiB", "gpus": [
      {"count": 2, "kind": "t4"}, {"count": 4, "kind": "a100", "memory": "40GiB"}])");
  text = replaced(text, R"("vcpus": 2, "ram": "1GiB")",
                  R"("gpus": {"count": 2, "kind": "a100", "memory": "40GiB"})");
  const Reading read = read_question(text);
  ASSERT_THAT(read.problems, ElementsAre());
  EXPECT_THAT(violations("plan.schema.json", text), ElementsAre());
  EXPECT_THAT(violations("plan.schema.json", write_question(read.question)), ElementsAre());
  EXPECT_THAT(violations("plan-answer.schema.json", text_of_plan(read.question)), ElementsAre());
}

const std::string kBounds = R"("bounds": {"default": )";

/// What a schema can say, it says: the reader refuses no more kinds of such mistakes.
TEST(SchemaTest, MistakesOfFormAreMistakesForBoth) {
  for (const auto& [what, with] : std::vector<std::pair<std::string, std::string>>{
           {"\"version\": 1", "\"version\": 2"},
           {"\"version\": 1,", ""},
           {"\"types\":", "\"kinds\": 1, \"types\":"},
           {"\"max\": 3", "\"max\": -3"},
           {"\"max\": 3", "\"max\": 3, \"maxx\": 3"},
           {"\"idle_timeout\": \"1m\"", "\"idle_timeout\": 60"},
           {"\"count\": 3", "\"count\": 0"},
           {"\"count\": 3,", ""},
           {"\"kind\": \"lease\"", "\"kind\": \"loan\""},
           {"\"exclusive\": true", "\"exclusive\": 1"},
           {"[\"default\"]", "\"default\""},
           {"\"agent\"", "\"agents\""},
           {"\"max_term\": \"1h\"", "\"max_term\": 3600"},
           {"\"max_term\": \"1h\"", "\"term\": \"1h\""},
           {"\"c-2\"", "\"j-2\""},
           {"\"h-2\"", "2"},
           {"\"vcpus\": 8", "\"vcpus\": true"},
           {"\"1GiB\"", "\"1\""},
           {"\"vcpus\": 8", "\"gpus\": 0.5"},
           {"\"vcpus\": 8", R"("gpus": {"kind": "a100"})"},
           {"\"vcpus\": 8", R"("gpus": {"count": 1, "kind": "A100"})"},
           {"\"vcpus\": 8", R"("gpus": [{"count": 1}])"},
           {"\"4GiB\"", R"("4GiB", "gpus": [1])"},
           {"\"phase\": \"ready\"", "\"phase\": \"up\""},
           {"\"phase\": \"ready\"", R"("phase": "ready", "drain": "soon")"},
           {"\"phase\": \"ready\"", R"("phase": "ready", "rank": "low")"},
           {"\"max\": 3", R"("max": "")"},
           {"\"max\": 3", R"("max": 3, "created_max": 1.5)"},
           {"\"max\": 3", R"("max": 3, "scaling": {"drain": {"timeout": "1m"}})"},
           {"\"price_per_hour\": 0.05", "\"price_per_hour\": -0.05"},
           {"\"age\": \"1h\"", "\"age\": \"-1h\""},
           {"\"work\":", kBounds + R"([{"bound": "most", "source": "pushed"}]}, "work":)"},
           {"\"work\":", kBounds + R"([{"bound": "standby"}]}, "work":)"},
           {"\"work\":", kBounds + R"([{"bound": "standby", "source": "a b"}]}, "work":)"},
           {"\"work\":",
            kBounds + R"([{"bound": "standby", "source": "pushed", "number": -1}]}, "work":)"},
           {"\"work\":",
            kBounds + R"([{"bound": "standby", "source": "pushed", "max": 1}]}, "work":)"},
       }) {
    const std::string text = replaced(kSmall, what, with);
    EXPECT_THAT(read_question(text).problems, Not(IsEmpty())) << with;
    EXPECT_THAT(violations("plan.schema.json", text), Not(IsEmpty())) << with;
  }
}

}  // namespace
}  // namespace hostler::planning
