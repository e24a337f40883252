#include "core/planning/answer.h"

#include <gtest/gtest.h>

#include "core/json/document.h"
#include "core/planning/read.h"
#include "core/planning/write.h"
#include "tests/unit/planning/plan_text.h"

namespace hostler::planning {
namespace {

json::Document answer_to(const std::string& snapshot) {
  const auto text = answer(snapshot);
  if (!text) {
    ADD_FAILURE() << text.error().front().message;
    return *json::Document::parse("{}");
  }
  return *json::Document::parse(*text);
}

std::vector<std::string> actions_of(const json::Document& answer) {
  std::vector<std::string> out;
  for (const json::Value action : answer.root().at("actions").children())
    out.emplace_back(action.at("action").text());
  return out;
}

json::Value work_of(const json::Document& answer, std::string_view id) {
  for (const json::Value work : answer.root().at("work").children())
    if (work.at("id").text() == id) return work;
  return answer.root().at("none");
}

TEST(AnswerTest, SaysWhereWorkStartsForWhichHostsItWaitsAndWhatIsBought) {
  const auto all = answer_to(kSmall);

  EXPECT_EQ(actions_of(all), (std::vector<std::string>{"place", "create"}));
  auto action = all.root().at("actions").children().begin();
  const json::Value create = *++action;
  EXPECT_EQ(create.at("type").text(), "small");
  EXPECT_EQ(create.at("zone").text(), "a");
  EXPECT_EQ(create.at("price_per_hour").text(), "0.05");
  const json::Value work = work_of(all, "c-1");
  EXPECT_EQ(work.at("status").text(), "host_coming");
  EXPECT_EQ(work.at("host_ready").int_or(0), 1);
  EXPECT_EQ(work.at("host_coming").int_or(0), 1);
  EXPECT_EQ(work.at("host_created").int_or(0), 1);
}

TEST(AnswerTest, SaysWhyWorkWaitsAndWhatWasNotBoughtForIt) {
  const json::Document all = answer_to(kSmall);
  const json::Value lease = work_of(all, "c-2");

  EXPECT_EQ(lease.at("kind").text(), "lease");
  EXPECT_TRUE(lease.at("exclusive").bool_or(false));
  EXPECT_EQ(lease.at("status").text(), "waits");
  EXPECT_EQ(lease.at("waits").int_or(0), 1);
  const json::Value because = *lease.at("waiting_because").children().begin();
  EXPECT_EQ(because.at("code").text(), "no_offering");
  EXPECT_EQ((*lease.at("not_bought").children().begin()).at("reason").text(), "2 of 8 vcpus");
}

TEST(AnswerTest, SaysWhyTheRestWaitsThatNoHostComesFor) {
  const json::Document all = answer_to(replaced(kSmall, "\"count\": 3", "\"count\": 9"));
  const json::Value work = work_of(all, "c-1");

  EXPECT_EQ(work.at("status").text(), "waits");
  EXPECT_EQ(work.at("waits").int_or(0), 6);
  std::vector<std::string> codes;
  for (const json::Value one : work.at("waiting_because").children())
    codes.emplace_back(one.at("code").text());
  EXPECT_EQ(codes, (std::vector<std::string>{"host_coming", "at_ceiling"}));
}

TEST(AnswerTest, AHostThatBoundsLetGoDrainsFirst) {
  std::string text = replaced(kSmall, "\"max\": 3", R"("max": "shards", "scaling": {
      "drain": {"command": ["/opt/deregister", "--token", "t-1"]}})");
  text = replaced(text, "\"work\":", R"("bounds": {"default": [
      {"bound": "started_max", "source": "expression", "number": 0}]}, "work":)");
  const auto all = answer_to(text);
  EXPECT_EQ(actions_of(all), (std::vector<std::string>{"close", "close", "shut_down", "drain"}));
  const Reading read = read_question(text);
  EXPECT_EQ(write_question(read.question).find("t-1"), std::string::npos)
      << "arguments may hold secrets";
}

TEST(AnswerTest, AnExpressionWithoutItsBoundHoldsWhatIsThere) {
  const auto all = answer_to(replaced(kSmall, "\"max\": 3", R"("max": "shards")"));
  EXPECT_EQ(actions_of(all), (std::vector<std::string>{"place"}));
}

TEST(AnswerTest, GateShutsTheOfferingsThatItNames) {
  const auto shut = [](const char* gate) {
    return actions_of(answer_to(replaced(
        kSmall, "\"work\"",
        R"("gates": [{"message": "no capacity", )" + std::string(gate) + R"(}], "work")")));
  };

  EXPECT_EQ(shut(R"("zone": "a")"), std::vector<std::string>{"place"});
  EXPECT_EQ(shut(R"("type": "small", "market": "on_demand")"), std::vector<std::string>{"place"});
  EXPECT_EQ(shut(R"("zone": "b")"), (std::vector<std::string>{"place", "create"}));
  EXPECT_EQ(shut(R"("market": "spot")"), (std::vector<std::string>{"place", "create"}));
}

TEST(AnswerTest, TrialSaysForEachJobWhereAndWhenItStarts) {
  const Reading read = read_question(kSmall);
  ASSERT_TRUE(read.problems.empty());
  const Trial trial{.question = read.question,
                    .jobs = {1, 2, 1, 1},
                    .beyond = {},
                    .boots = {std::chrono::seconds(50)}};
  const auto text =
      write_trial(trial, scheduler::make_plan(read.question.snapshot, read.question.policy));
  const auto all = json::Document::parse(text);
  ASSERT_TRUE(all) << text;
  std::vector<std::string> seen;
  for (const json::Value job : all->root().at("jobs").children())
    seen.push_back(std::string(job.at("outcome").text()) + " " +
                   std::string(job.at("starts_in").text_or("-")) + " " +
                   std::string(job.at("starts_in_at_most").text_or("-")));

  EXPECT_EQ(seen, (std::vector<std::string>{"host_ready 0s -", "waits - -", "host_coming 30s 580s",
                                            "host_created 50s 10m"}));
}

}  // namespace
}  // namespace hostler::planning
