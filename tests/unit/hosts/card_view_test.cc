#include "core/hosts/card_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hostler::hosts {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

agent::Cards listing(const std::string& cards) {
  agent::Cards out;
  out.tool = agent::Cards::Tool::kCommand;
  out.text = "{\"cards\": [" + cards + "]}";
  return out;
}
agent::Cards two_cards() {
  return listing(R"({"uuid": "GPU-a", "files": ["/dev/nvidia0", "/dev/dri/card0"]},
                    {"uuid": "GPU-b", "files": ["/dev/nvidia1"]})");
}
agent::Cards failed() {
  agent::Cards out = listing("");
  out.status = 9;
  return out;
}
agent::Start equipped(const CardView& view, const std::vector<std::string>& uuids) {
  agent::Start start;
  start.env = {{"HOSTLER_GPUS", "of the job"}};
  EXPECT_TRUE(view.equip(start, uuids));
  return start;
}

TEST(CardViewTest, AStartGetsItsCardsWithTheirFilesAndVariables) {
  CardView view;
  EXPECT_TRUE(view.learn(two_cards()));
  const agent::Start start = equipped(view, {"GPU-b", "GPU-a"});
  EXPECT_THAT(start.cards, ElementsAre("GPU-b", "GPU-a"));
  EXPECT_THAT(start.files, ElementsAre("/dev/nvidia1", "/dev/nvidia0", "/dev/dri/card0"));
  EXPECT_THAT(
      start.env,
      ElementsAre(Pair("HOSTLER_GPUS", "of the job"), Pair("CUDA_VISIBLE_DEVICES", "GPU-b,GPU-a"),
                  Pair("ROCR_VISIBLE_DEVICES", "GPU-b,GPU-a"), Pair("HOSTLER_GPUS", "GPU-b,GPU-a")))
      << "the last of equal names wins";
}

TEST(CardViewTest, AStartWithoutCardsSeesNoneWhereTheyAreKnown) {
  CardView view;
  EXPECT_EQ(equipped(view, {}).env.size(), 1U) << "nothing is known yet";
  (void)view.learn(agent::Cards());
  EXPECT_EQ(equipped(view, {}).env.size(), 1U) << "nothing tells of them there";
  (void)view.learn(two_cards());
  EXPECT_THAT(equipped(view, {}).env, testing::Contains(Pair("CUDA_VISIBLE_DEVICES", "")));
  (void)view.learn(listing(""));
  EXPECT_THAT(equipped(view, {}).env, testing::Contains(Pair("ROCR_VISIBLE_DEVICES", "")));
}

TEST(CardViewTest, ACardThatIsNotListedAnyMoreIsRefused) {
  CardView view;
  agent::Start start;
  const auto refused = [&] {
    const auto got = view.equip(start, {"GPU-a", "GPU-b"});
    EXPECT_EQ(start, agent::Start()) << "unchanged";
    return got ? std::string() : got.error().message;
  };
  EXPECT_EQ(refused(), "card GPU-a is not there any more");
  (void)view.learn(listing(R"({"uuid": "GPU-a"})"));
  EXPECT_EQ(refused(), "card GPU-b is not there any more");
  (void)view.learn(agent::Cards());
  EXPECT_EQ(refused(), "card GPU-b is not there any more") << "no tool tells that GPU-a is gone";
}

TEST(CardViewTest, AReadingThatFailsChangesNothingOfWhatIsKnown) {
  CardView view;
  (void)view.learn(two_cards());
  (void)view.take_guard();
  EXPECT_TRUE(view.learn(failed()));
  EXPECT_THAT(view.report().problem, HasSubstr("status 9"));
  EXPECT_EQ(equipped(view, {"GPU-b"}).files.size(), 1U);
  EXPECT_FALSE(view.take_guard());
}

TEST(CardViewTest, AnotherReportIsNewsAndEachThatFails) {
  CardView view;
  EXPECT_TRUE(view.learn(two_cards()));
  auto same = two_cards();
  same.text += "\n";
  EXPECT_FALSE(view.learn(same)) << "other words, the same cards";
  EXPECT_TRUE(view.learn(failed()));
  EXPECT_TRUE(view.learn(failed())) << "the loop counts them";
  EXPECT_TRUE(view.learn(two_cards()));
}

TEST(CardViewTest, TheAgentIsToldAllFilesWheneverTheyChange) {
  CardView view;
  EXPECT_FALSE(view.take_guard()) << "nothing was read";
  (void)view.learn(failed());
  EXPECT_FALSE(view.take_guard());
  (void)view.learn(two_cards());
  const auto guard = view.take_guard();
  ASSERT_TRUE(guard);
  EXPECT_THAT(guard->files, ElementsAre("/dev/dri/card0", "/dev/nvidia0", "/dev/nvidia1"));
  (void)view.learn(listing(R"({"uuid": "GPU-a", "health": "bad", "files": ["/dev/nvidia0",
      "/dev/dri/card0"]}, {"uuid": "GPU-b", "files": ["/dev/nvidia1"]})"));
  EXPECT_FALSE(view.take_guard()) << "the same files";
  (void)view.learn(agent::Cards());
  EXPECT_FALSE(view.take_guard()) << "a tool that is not there any more frees no card";
  (void)view.learn(listing(""));
  const auto none = view.take_guard();
  ASSERT_TRUE(none) << "what was guarded before is free";
  EXPECT_THAT(none->files, IsEmpty());
}

TEST(CardViewTest, AnAgentThatDoesNotTellInTimeIsAReadingThatFailed) {
  CardView view;
  view.learn_nothing(seconds(30));
  EXPECT_EQ(view.report().source, "agent");
  EXPECT_THAT(view.report().problem, HasSubstr("the agent has not told of its cards in 30"));
  EXPECT_FALSE(view.take_guard());
  EXPECT_TRUE(view.learn(two_cards()));
}

// Otherwise a host whose cards change at each call would fill the ledger.
TEST(CardViewTest, AnAgentTellsAboutOnceAMinute) {
  CardView view;
  const CardView::Moment start{};
  std::int64_t admitted = 0;
  for (int second = 0; second < 3600; ++second)
    admitted += view.admit(start + seconds(second)) ? 1 : 0;
  EXPECT_LE(admitted, 85);

  CardView honest;
  for (int minute = 0; minute < 600; ++minute) {
    honest.expect();
    EXPECT_TRUE(honest.admit(start + minutes(minute)));
    EXPECT_TRUE(honest.admit(start + minutes(minute))) << "and after new settings";
  }
}

}  // namespace
}  // namespace hostler::hosts
