// Snapshots of pools that an outside scheduler sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/json/schema.h"
#include "core/planning/read.h"
#include "core/planning/write.h"
#include "tests/unit/planning/plan_text.h"

namespace hostler::planning {
namespace {

using scheduler::AgentState;
using scheduler::BoundOf;
using scheduler::HostPhase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::string kPushed = R"({
  "version": 1,
  "types": [{"name": "g8", "price": 1, "slots": 8}, {"name": "g2", "price": 0.3}],
  "sets": [{"name": "west"}],
  "pools": [{"name": "gpu", "max": 5, "readiness": "cloud",
             "pushed": {"max_age": "1m", "lifetime_max": "24h", "agent_name": "address"},
             "push": {"age": "10s", "tasks": [{"id": "t-1", "slots": 4, "group": "a"}, {"id": "t-2", "slots": 8}],
                      "group_max": {"a": 6}}},
            {"name": "other"}],
  "offerings": [
    {"id": "g8", "pool": "gpu", "set": "west", "type": "g8", "vcpus": 8, "ram": "32GiB", "price_per_hour": 1},
    {"id": "g2", "pool": "gpu", "set": "west", "type": "g2", "vcpus": 8, "ram": "32GiB", "gpus": 2, "price_per_hour": 0.3}],
  "hosts": [
    {"id": "h-1", "pool": "gpu", "offering": "g8", "phase": "ready", "age": "1h", "agent": "idle", "agent_for": "3m", "going": true},
    {"id": "h-2", "pool": "gpu", "offering": "g8", "phase": "ready", "age": "1h", "agent": "busy", "acknowledged": true},
    {"id": "h-3", "pool": "gpu", "offering": "g2", "phase": "ready", "age": "1h", "agent": "lost", "agent_for": "7m"},
    {"id": "h-4", "pool": "gpu", "offering": "g8", "phase": "coming", "age": "5m", "agent": "coming", "was_listed": true, "agent_for": "1m"},
    {"id": "h-5", "pool": "gpu", "offering": "g8", "phase": "ready", "age": "5m"},
    {"id": "h-6", "pool": "gpu", "offering": "g8", "phase": "ready", "age": "25m"}]
})";

std::vector<std::string> push_problems(const std::string& text) {
  std::vector<std::string> out;
  for (const Error& problem : read_question(text).problems) out.push_back(problem.message);
  return out;
}
std::vector<std::string> push_changed(std::string_view what, std::string_view with) {
  return push_problems(replaced(kPushed, what, with));
}

class PushedTest : public testing::Test {
 protected:
  PushedTest() : read(read_question(kPushed)) {}
  const scheduler::HostView& host(std::size_t n) const {
    return read.question.snapshot.hosts.at(n);
  }

  Reading read;
};

TEST_F(PushedTest, AgentsAreReadWithTheirTimes) {
  ASSERT_THAT(push_problems(kPushed), ElementsAre());
  const Mono now = read.question.snapshot.now;
  EXPECT_EQ(host(0).agent, AgentState::kIdle);
  EXPECT_EQ(host(0).agent_since, now - std::chrono::minutes(3));
  EXPECT_TRUE(host(0).is_going && host(0).was_listed && !host(0).takes_work && !host(0).busy);
  EXPECT_TRUE(host(1).busy && host(1).acknowledged);
  EXPECT_EQ(host(2).agent, AgentState::kLost);
  EXPECT_FALSE(host(2).was_listed);
  EXPECT_EQ(host(3).phase, HostPhase::kComing);
}

TEST_F(PushedTest, AHostThatNoPushHasListedIsComingAndThenLost) {
  EXPECT_EQ(host(4).agent, AgentState::kComing);
  EXPECT_EQ(host(4).phase, HostPhase::kComing);
  EXPECT_EQ(host(5).agent, AgentState::kLost);
  EXPECT_EQ(host(5).agent_since, read.question.snapshot.now - std::chrono::minutes(5));
}

TEST_F(PushedTest, SlotsAreThoseOfTheTypeOrTheGpus) {
  const auto& snapshot = read.question.snapshot;
  EXPECT_EQ(snapshot.offerings[0].resources.slots, 8);
  EXPECT_EQ(snapshot.offerings[1].resources.slots, 2);
  EXPECT_EQ(snapshot.hosts[2].total.slots, 2);
  EXPECT_EQ(snapshot.hosts[2].free.slots, 2);
}

TEST_F(PushedTest, APushMakesTasksAndBounds) {
  const auto& snapshot = read.question.snapshot;
  ASSERT_THAT(snapshot.classes, SizeIs(2));
  EXPECT_EQ(snapshot.classes[0].kind, model::WorkKind::kTask);
  EXPECT_EQ(snapshot.classes[0].shape.needs.slots, 8);
  EXPECT_TRUE(snapshot.classes[0].displaced);
  ASSERT_THAT(snapshot.bounds[0], SizeIs(2));
  EXPECT_EQ(snapshot.bounds[0][1].of, BoundOf::kStartedMax);
  EXPECT_EQ(snapshot.bounds[0][1].number, scheduler::kBoundMax);
  EXPECT_EQ(snapshot.bounds[0][1].until, snapshot.now + std::chrono::seconds(50));
}

TEST_F(PushedTest, FromMaxAgeOnNothingIsKnown) {
  for (const auto& [age, known] :
       std::vector<std::pair<std::string, bool>>{{"59999ms", true}, {"1m", false}}) {
    const Reading its = read_question(replaced(kPushed, "\"10s\"", "\"" + age + "\""));
    EXPECT_EQ(its.question.snapshot.bounds[0][0].number.has_value(), known) << age;
  }
}

TEST_F(PushedTest, WhatIsWrittenIsReadBackEqual) {
  const std::string written = write_question(read.question);
  const Reading again = read_question(written);
  ASSERT_THAT(again.problems, IsEmpty());
  EXPECT_EQ(again.question.policy.pools[0].pushed, read.question.policy.pools[0].pushed);
  EXPECT_EQ(again.question.pushes, read.question.pushes);
  EXPECT_EQ(again.question.snapshot.hosts, read.question.snapshot.hosts);
  EXPECT_EQ(again.question.snapshot.bounds, read.question.snapshot.bounds);
  EXPECT_EQ(write_question(again.question), written);
  EXPECT_EQ(text_of_plan(again.question), text_of_plan(read.question));
}

/// As the daemon publishes it: it has what was made of the push.
TEST_F(PushedTest, WithoutThePushTasksAndBoundsAreWritten) {
  read.question.pushes.clear();
  const std::string written = write_question(read.question);
  EXPECT_THAT(written, Not(HasSubstr("\"push\":")));
  const Reading again = read_question(written);
  ASSERT_THAT(again.problems, IsEmpty());
  EXPECT_THAT(again.question.snapshot.classes, SizeIs(2));
  EXPECT_EQ(again.question.snapshot.hosts, read.question.snapshot.hosts);
  EXPECT_EQ(write_question(again.question), written);
  EXPECT_EQ(text_of_plan(again.question), text_of_plan(read.question));
}

TEST_F(PushedTest, SnapshotAndAnswerKeepTheirSchemas) {
  const auto violations = [](const char* schema, const std::string& value) {
    const auto text = read_file(std::string(HOSTLER_CONFIG_DIR) + "/" + schema, 1 << 20);
    const auto problems = json::schema_problems(*text, value);
    return problems ? *problems : std::vector{problems.error().message};
  };
  const std::string with_push = write_question(read.question);
  read.question.pushes.clear();
  for (const std::string& text : {kPushed, with_push, write_question(read.question)})
    EXPECT_THAT(violations("plan.schema.json", text), ElementsAre());
  EXPECT_THAT(violations("plan-answer.schema.json", text_of_plan(read.question)), ElementsAre());
}

TEST_F(PushedTest, TheAnswerNamesHostsThatAreToGo) {
  const auto text = answer(replaced(kPushed, "\"3m\"", "\"30m\""));
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr(R"("going":[{"host":"h-1","reason":"idle for 30 m, idle timeout)"));
  EXPECT_THAT(*answer(kSmall), Not(HasSubstr("\"going\""))) << "no pool is pushed";
}

TEST_F(PushedTest, WrongPushesAreRefused) {
  EXPECT_THAT(push_changed("\"slots\": 4", "\"slots\": -4"), ElementsAre(HasSubstr("found -4")));
  EXPECT_THAT(push_changed("\"slots\": 4", "\"slots\": 99999999"), SizeIs(1));
  EXPECT_THAT(push_changed("\"t-2\"", "\"t-1\""), ElementsAre(HasSubstr("'t-1' is there twice")));
  EXPECT_THAT(push_changed("\"age\": \"10s\"", "\"age\": \"10s\", \"desired_new\": 1"),
              ElementsAre(HasSubstr("either tasks or desired_new")));
  EXPECT_THAT(push_changed("{\"a\": 6}", "{\"a\": -6}"), ElementsAre(HasSubstr("found -6")));
  EXPECT_THAT(push_changed("{\"name\": \"other\"}", R"({"name": "other", "push": {}})"),
              ElementsAre(HasSubstr("has no `pushed`")));
  EXPECT_THAT(push_changed("\"offerings\":", R"("bounds": {"gpu": [{"bound": "started_max",
              "source": "pushed", "number": 0}]}, "offerings":)"),
              ElementsAre(HasSubstr("one of the two")));
}

TEST_F(PushedTest, WrongAgentsAreRefused) {
  EXPECT_THAT(push_changed("\"agent\": \"lost\"", "\"agent\": \"gone\""), SizeIs(1));
  EXPECT_THAT(push_changed("\"agent\": \"coming\"", "\"agent\": \"idle\""),
              ElementsAre(HasSubstr("as the phase is coming")));
  EXPECT_THAT(push_changed("\"agent\": \"idle\"", R"("agent": "idle", "busy": true)"),
              ElementsAre(HasSubstr("its agent is not busy")));
  EXPECT_THAT(push_changed(R"("phase": "ready", "age": "1h", "agent": "idle")",
                           R"("phase": "stopped", "age": "1h", "agent": "idle")"),
              ElementsAre(HasSubstr("neither coming nor ready")));
  EXPECT_THAT(
      push_changed(R"("pool": "gpu", "offering": "g8", "phase": "ready", "age": "1h", "agent")",
                   R"("pool": "other", "phase": "ready", "age": "1h", "agent")"),
      SizeIs(2));
}

}  // namespace
}  // namespace hostler::planning
