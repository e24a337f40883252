#include "core/api/push_codec.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

/// Pushes that a pusher may send, and their answers.
namespace hostler::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A good push with these members in place of tasks.
std::string push_of(const std::string& members) {
  return R"({"session": "s-1", "sequence": 7, "agents": [], )" + members + "}";
}
std::string agents(const std::string& each) {
  return R"({"session": "s-1", "sequence": 7, "tasks": [], "agents": [)" + each + "]}";
}
std::string tasks(const std::string& each) { return push_of(R"("tasks": [)" + each + "]"); }

TEST(PushCodecTest, AWholePushIsRead) {
  const auto push = read_push(
      R"({"session": "s-1", "sequence": 7, "seen": 12, "agents": [{"name": "h-3", "idle": true},
          {"name": "h-4", "used_slots": 2}], "tasks": [{"id": "t1", "slots": 4, "group": "g"}],
          "group_max": {"g": 8}})");
  ASSERT_TRUE(push) << push.error().message;
  EXPECT_EQ(push->session, "s-1");
  EXPECT_EQ(push->sequence, 7U);
  EXPECT_EQ(push->seen, 12U);
  EXPECT_THAT(push->agents,
              ElementsAre(model::PushedAgent{"h-3", true}, model::PushedAgent{"h-4", false}));
  EXPECT_THAT(push->tasks, ElementsAre(model::PushedTask{"t1", 4, "g"}));
  EXPECT_EQ(push->group_max, (std::map<std::string, std::int64_t>{{"g", 8}}));
  EXPECT_EQ(push->desired_new, std::nullopt);
}

TEST(PushCodecTest, ANumberOfHostsMayStandInPlaceOfTasks) {
  const auto push = read_push(push_of(R"("desired_new": 3, "seen": null)"));
  ASSERT_TRUE(push) << push.error().message;
  EXPECT_EQ(push->desired_new, 3);
  EXPECT_EQ(push->seen, 0U);
}

TEST(PushCodecTest, AnAgentIsIdleIfItHasNoSlotsUsedAndDoesNotSayOtherwise) {
  const auto push = read_push(agents(
      R"({"name": "a", "used_slots": 0}, {"name": "b", "used_slots": 0, "idle": true},
         {"name": "c", "used_slots": 0, "idle": false}, {"name": "d", "used_slots": 3},
         {"name": "e", "used_slots": 3, "idle": false}, {"name": "f", "idle": false})"));
  ASSERT_TRUE(push) << push.error().message;
  std::string idle;
  for (const auto& agent : push->agents)
    if (agent.is_idle) idle += agent.name;
  EXPECT_EQ(idle, "ab");
}

TEST(PushCodecTest, NamesMayHaveAnyCharactersButNul) {
  const auto push = read_push(agents(R"({"name": "\u001b[31m\u202e\n", "idle": true},
                                        {"name": "käfer 🐞", "idle": true})"));
  ASSERT_TRUE(push) << push.error().message;
  EXPECT_EQ(push->agents[0].name, "\x1b[31m\u202e\n");
  EXPECT_EQ(push->agents[1].name, "käfer 🐞");
  EXPECT_FALSE(read_push(agents("{\"name\": \"\xff\xfe\", \"idle\": true}"))) << "no UTF-8";
}

TEST(PushCodecTest, EachBadPushIsRefusedWithItsPath) {
  struct Row {
    std::string body, path, message;
  };
  const std::string wide(300, 'x');
  const std::vector<Row> table{
      {"", "", "1:"},
      {"[]", "", "object"},
      {"{}", "session", "missing"},
      {push_of(R"("tasks": [], "desired_new": 1)"), "", "exactly one of"},
      {R"({"session": "s", "sequence": 1, "agents": []})", "", "exactly one of"},
      {R"({"session": "s", "sequence": 1, "tasks": []})", "agents", "missing"},
      {R"({"session": "", "sequence": 1, "agents": [], "tasks": []})", "session", "not empty"},
      {R"({"session": "a\u0000", "sequence": 1, "agents": [], "tasks": []})", "session", "U+0000"},
      {R"({"session": "s", "sequence": -1, "agents": [], "tasks": []})", "sequence", "-1"},
      {R"({"session": "s", "sequence": "1", "agents": [], "tasks": []})", "sequence", "\"1\""},
      {R"({"session": "s", "sequence": 1, "sequence": 2, "agents": [], "tasks": []})", "sequence",
       "twice"},
      {push_of(R"("tasks": [], "seen": -2)"), "seen", "-2"},
      {push_of(R"("tasks": [], "seen": 1.5)"), "seen", "1.5"},
      {push_of(R"("tasks": {})"), "tasks", "array"},
      {push_of(R"("tasks": [], "task": [])"), "task", "unknown key"},
      {push_of(R"("desired_new": -1)"), "desired_new", "-1"},
      {push_of(R"("desired_new": 99999999999999999999)"), "desired_new", "whole number"},
      {push_of(R"("tasks": [], "group_max": {"g": -1})"), "group_max.g", "-1"},
      {push_of(R"("tasks": [], "group_max": {"g": 0.5})"), "group_max.g", "0.5"},
      {agents("7"), "agents[0]", "object"},
      {agents(R"({"name": "a"})"), "agents[0]", "neither used_slots nor idle"},
      {agents(R"({"idle": true})"), "agents[0].name", "missing"},
      {agents(R"({"name": "a\u0000", "idle": true})"), "agents[0].name", "U+0000"},
      {agents(R"({"name": "", "idle": true})"), "agents[0].name", "not empty"},
      {agents(R"({"name": "a", "used_slots": 2, "idle": true})"), "agents[0].idle", "used_slots"},
      {agents(R"({"name": "a", "used_slots": -2})"), "agents[0].used_slots", "-2"},
      {agents(R"({"name": "a", "idle": 1})"), "agents[0].idle", "1"},
      {agents(R"({"name": "a", "idle": true, "slots": 1})"), "agents[0].slots", "unknown key"},
      {agents(R"({"name": "a", "idle": true}, {"name": "a", "idle": false})"), "agents[1].name",
       "twice"},
      {tasks(R"({"id": "t", "slots": -1})"), "tasks[0].slots", "-1"},
      {tasks(R"({"id": "t", "slots": 1.5})"), "tasks[0].slots", "1.5"},
      {tasks(R"({"id": "t", "slots": 1e99})"), "tasks[0].slots", "1e99"},
      {tasks(R"({"id": "t", "slots": 2000000})"), "tasks[0].slots", "2000000"},
      {tasks(R"({"id": "t"})"), "tasks[0].slots", "missing"},
      {tasks(R"({"slots": 1})"), "tasks[0].id", "missing"},
      {tasks(R"({"id": "t", "slots": 1}, {"id": "t", "slots": 2})"), "tasks[1].id", "twice"},
  };
  for (const Row& row : table) {
    const auto push = read_push(row.body);
    ASSERT_FALSE(push) << row.body;
    EXPECT_EQ(push.error().code, Errc::kInvalidArgument) << row.body;
    EXPECT_EQ(push.error().path, row.path) << row.body;
    EXPECT_THAT(push.error().message, HasSubstr(row.message)) << row.body;
  }
  EXPECT_EQ(read_push(tasks(R"({"slots": 1, "id": ")" + wide + "\"}")).error().code,
            Errc::kTooLarge);
}

std::string many(std::size_t count, const std::string& head, const std::string& tail) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += (i ? "," : "") + head + std::to_string(i) + tail;
  return out;
}

TEST(PushCodecTest, ThereAreAsManyAgentsAndTasksAsTheLimitsSayAndNoMore) {
  const auto of = [](std::size_t agents, std::size_t tasks) {
    return R"({"session": "s", "sequence": 1, "agents": [)" +
           many(agents, R"({"name": "h-)", R"(", "used_slots": 0, "idle": true})") +
           R"(], "tasks": [)" + many(tasks, R"({"id": "t)", R"(","slots":1})") + "]}";
  };
  const auto most = read_push(of(model::kPushedAgentsMax, model::kPushedTasksMax));
  ASSERT_TRUE(most) << most.error().message;
  EXPECT_EQ(most->tasks.size(), model::kPushedTasksMax);
  EXPECT_EQ(read_push(of(model::kPushedAgentsMax + 1, 0)).error().code, Errc::kTooLarge);
  EXPECT_EQ(read_push(of(0, model::kPushedTasksMax + 1)).error().code, Errc::kTooLarge);
  // The shortest agents that there are: a million of them have less than 4 MiB.
  EXPECT_EQ(read_push(agents(many(300'000, "", ""))).error().code, Errc::kTooLarge);
}

TEST(PushCodecTest, AnAnswerHasAllItsMembersAlways) {
  std::string out;
  json::Writer w(out);
  write_push_answer(w, {13, {"h-3"}, {"x\n"}, {{"t9", {8, 16}}}});
  EXPECT_EQ(out, R"({"answer":13,"going":["h-3"],"unknown_agents":["x\n"],)"
                 R"("never_fits":[{"id":"t9","slots_that_would_do":[8,16]}]})");
  std::string empty;
  json::Writer w2(empty);
  write_push_answer(w2, {});
  EXPECT_EQ(empty, R"({"answer":0,"going":[],"unknown_agents":[],"never_fits":[]})");
}

TEST(PushCodecTest, TheIdsOfTasksAreLeftOutWhereTheyAreNotAskedFor) {
  model::ScalingInfoView view;
  view.pool = "gpu";
  view.pusher.principal = "token sched";
  view.tasks = {{"secret", 4, "g"}};
  view.never_fits = {{"secret", {8}}};
  auto& host = view.instances.emplace_back();
  host.instance = model::InstanceId{3};
  host.agent = "h-3";
  host.state = "idle";
  host.slots = 8;
  host.is_going = true;
  host.reason = "idle";
  for (const bool with_ids : {false, true}) {
    std::string out;
    json::Writer w(out);
    write_scaling_info(w, view, with_ids);
    EXPECT_EQ(out.find("secret") != std::string::npos, with_ids) << out;
    EXPECT_THAT(out, HasSubstr(R"("slots":4,"group":"g")"));
    EXPECT_THAT(out, HasSubstr(R"({"instance":"h-3","agent":"h-3","state":"idle","slots":8,)"
                               R"("going":true,"acknowledged":false,"reason":"idle"})"));
    EXPECT_THAT(out, Not(HasSubstr("launch_error")));
  }
}

}  // namespace
}  // namespace hostler::api
