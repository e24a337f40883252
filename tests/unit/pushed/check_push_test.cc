#include "core/pushed/check_push.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace hostler::pushed {
namespace {

model::Push good() {
  return {.session = "s",
          .sequence = 1,
          .seen = 0,
          .agents = {{"a", true}, {"b", false}},
          .tasks = {{"t1", 0, ""}, {"t2", 8, "g"}},
          .desired_new = {},
          .group_max = {{"g", 8}}};
}

struct Bad {
  const char* path;
  Errc code;
  std::function<void(model::Push&)> spoil;
};

class BadPushTest : public testing::TestWithParam<Bad> {};

TEST_P(BadPushTest, IsRefusedWithItsPlace) {
  model::Push push = good();
  GetParam().spoil(push);
  const auto checked = check_push(push);
  ASSERT_FALSE(checked) << GetParam().path;
  EXPECT_EQ(checked.error().code, GetParam().code);
  EXPECT_EQ(checked.error().path, GetParam().path);
  EXPECT_NE(checked.error().message.find(GetParam().path), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadPushTest,
    testing::Values(
        Bad{"session", Errc::kInvalidArgument, [](auto& p) { p.session.clear(); }},
        Bad{"session", Errc::kInvalidArgument, [](auto& p) { p.session.assign(257, 'x'); }},
        Bad{"agents[2].name", Errc::kInvalidArgument,
            [](auto& p) {
              p.agents.push_back({"a", true});
            }},
        Bad{"agents[1].name", Errc::kInvalidArgument, [](auto& p) { p.agents[1].name.clear(); }},
        Bad{"tasks[2].id", Errc::kInvalidArgument,
            [](auto& p) {
              p.tasks.push_back({"t1", 1, ""});
            }},
        Bad{"tasks[0].slots", Errc::kInvalidArgument, [](auto& p) { p.tasks[0].slots = -1; }},
        Bad{"tasks[1].slots", Errc::kInvalidArgument,
            [](auto& p) { p.tasks[1].slots = 1'000'001; }},
        Bad{"tasks[1].group", Errc::kInvalidArgument,
            [](auto& p) { p.tasks[1].group.assign(257, 'g'); }},
        Bad{"session", Errc::kInvalidArgument, [](auto& p) { p.session.assign(1, '\0'); }},
        Bad{"agents[0].name", Errc::kInvalidArgument, [](auto& p) { p.agents[0].name = "\xff"; }},
        Bad{"tasks[0].id", Errc::kInvalidArgument, [](auto& p) { p.tasks[0].id.clear(); }},
        Bad{"group_max", Errc::kInvalidArgument, [](auto& p) { p.group_max[""] = 1; }},
        Bad{"desired_new", Errc::kInvalidArgument, [](auto& p) { p.desired_new = 1; }},
        Bad{"desired_new", Errc::kInvalidArgument,
            [](auto& p) { p.tasks.clear(), p.desired_new = INT64_MAX; }},
        Bad{"desired_new", Errc::kInvalidArgument,
            [](auto& p) { p.tasks.clear(), p.desired_new = -1; }},
        Bad{"group_max", Errc::kInvalidArgument, [](auto& p) { p.group_max["g"] = -1; }},
        Bad{"agents", Errc::kTooLarge, [](auto& p) { p.agents.resize(20'001); }},
        Bad{"tasks", Errc::kTooLarge, [](auto& p) { p.tasks.resize(100'001); }}));

TEST(CheckPushTest, TakesWhatIsWithinAllLimits) {
  model::Push push = good();
  push.session.assign(model::kPushedNameMax, 's');
  push.tasks[0].slots = model::kSlotsMax;
  push.group_max["g"] = INT64_MAX;
  EXPECT_TRUE(check_push(push));
  push.tasks.clear();
  push.desired_new = 0;
  EXPECT_TRUE(check_push(push));
}

TEST(CheckPushTest, TakesNamesOfAnyCharactersAndShowsNoneOfThemRaw) {
  model::Push push = good();
  push.agents[0].name = "\x1b[2J\n";
  EXPECT_TRUE(check_push(push));
  push.agents[1].name = push.agents[0].name;
  const auto checked = check_push(push);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hostler::pushed
