#include "core/simulation/outside_scheduler.h"

#include <gmock/gmock.h>

namespace hostler::simulation {
namespace {

using model::InstanceId;
using model::PushedAgent;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(AgentsTest, ATaskGetsTheAgentWithTheFewestFreeSlotsThatHasRoom) {
  Agents agents(8, 1);
  agents.add(InstanceId{1}, "a", 8);
  agents.add(InstanceId{2}, "b", 4);
  agents.add(InstanceId{3}, "c", 4);
  EXPECT_THAT(agents.place(3), ElementsAre(InstanceId{2})) << "of equal ones the oldest";
  EXPECT_THAT(agents.place(2), ElementsAre(InstanceId{3}));
  EXPECT_THAT(agents.place(1), ElementsAre(InstanceId{2}));
  EXPECT_THAT(agents.place(4), ElementsAre(InstanceId{1}));
  EXPECT_THAT(agents.place(8), IsEmpty());
  agents.release(4, {InstanceId{1}});
  EXPECT_THAT(agents.place(8), ElementsAre(InstanceId{1}));
}

TEST(AgentsTest, TasksWithoutSlotsShareAnAgentUpToTheLimit) {
  Agents agents(1, 2);
  agents.add(InstanceId{1}, "a", 1);
  EXPECT_THAT(agents.place(1), ElementsAre(InstanceId{1}));
  for (int i = 0; i < 2; ++i) EXPECT_THAT(agents.place(0), ElementsAre(InstanceId{1}));
  EXPECT_THAT(agents.place(0), IsEmpty());
  agents.release(1, {InstanceId{1}});
  EXPECT_THAT(agents.listed(), ElementsAre(PushedAgent{"a", false}))
      << "an auxiliary task is there";
}

TEST(AgentsTest, ATaskWiderThanAllTypesTakesWholeEmptyAgentsOfOneSize) {
  Agents agents(4, 1);
  for (const std::uint64_t id : {1, 2, 3})
    agents.add(InstanceId{id}, std::to_string(id), id == 1 ? 2 : 4);
  EXPECT_THAT(agents.place(12), IsEmpty());
  EXPECT_THAT(agents.place(6), IsEmpty()) << "no two agents of 3";
  EXPECT_THAT(agents.place(8), ElementsAre(InstanceId{2}, InstanceId{3}));
  EXPECT_THAT(agents.place(4), IsEmpty());
  agents.release(8, {InstanceId{2}, InstanceId{3}});
  EXPECT_THAT(agents.place(4), ElementsAre(InstanceId{2}));
  EXPECT_THAT(agents.place(8), IsEmpty()) << "one of them is in use";
}

TEST(AgentsTest, NothingIsPlacedOnAnAgentThatIsToGo) {
  Agents agents(4, 1);
  agents.add(InstanceId{1}, "a", 4);
  agents.avoid({"a"});
  for (const std::int32_t slots : {0, 4, 8}) EXPECT_THAT(agents.place(slots), IsEmpty());
  agents.avoid({});
  EXPECT_THAT(agents.place(4), ElementsAre(InstanceId{1}));
}

TEST(AgentsTest, APlaceholderKeepsAnAgentFromBeingIdleAndGivesWayToTasks) {
  Agents agents(8, 1);
  agents.add(InstanceId{1}, "a", 4);
  agents.add(InstanceId{2}, "b", 4);
  EXPECT_THAT(agents.keep_spare({1, 8, 3, 2}), ElementsAre(8));
  EXPECT_THAT(agents.listed(), ElementsAre(PushedAgent{"a", false}, PushedAgent{"b", false}));
  EXPECT_THAT(agents.keep_spare({2}), IsEmpty()) << "those of before are forgotten";
  EXPECT_THAT(agents.listed(), ElementsAre(PushedAgent{"a", false}, PushedAgent{"b", true}));
  for (const std::uint64_t id : {1, 2}) EXPECT_THAT(agents.place(4), ElementsAre(InstanceId{id}));
  EXPECT_THAT(agents.keep_spare({2}), ElementsAre(2));
}

/// The scheduler of pool "gpu", alone: its pushes are kept, and the test answers them.
struct OutsideSchedulerTest : testing::Test {
  Timeline time;
  PushedLoad tasks{.pool = "gpu", .group_max = {}, .tasks = {}};
  model::PoolPolicy pool;
  Mono until = time.now();
  TaskCount count;
  std::vector<Machine> machines;
  std::vector<dispatch::PushReceived> pushes;
  std::optional<OutsideScheduler> scheduler;

  OutsideSchedulerTest() {
    pool.name = "gpu";
    pool.pushed.emplace();
  }
  void add_task(Duration from, std::int32_t slots, Duration runs, const std::string& group = "") {
    Arrivals& one = tasks.tasks.emplace_back();
    one.user = group;
    one.shape.needs.slots = slots;
    one.runs = {.least = runs, .most = runs};
    one.from = from;
    one.count = 1;
  }
  void add_machine(std::uint64_t id, const std::string& its_pool = "gpu") {
    Machine& machine = machines.emplace_back();
    machine.id = "i-" + std::to_string(id);
    machine.instance = InstanceId{id};
    machine.request.tags[model::tag::kPool] = its_pool;
    machine.request.type.resources.slots = 4;
    machine.ready_at = time.now();
  }
  void begin() {
    Scenario scenario;
    scenario.arrivals = tasks.tasks;
    scheduler.emplace(
        time, tasks, pool, Agents(4, 1), *Load::open(scenario), 0, count,
        OutsideScheduler::Outside{[this] {
                                    std::vector<const Machine*> out;
                                    for (const auto& m : machines) out.push_back(&m);
                                    return out;
                                  },
                                  [this](dispatch::Event event) {
                                    pushes.push_back(std::get<dispatch::PushReceived>(event));
                                  }});
    scheduler->begin();
  }
  void run_for(Duration lasting) {
    until += lasting;
    while (time.next() < until) time.step();
  }
  void answer(model::PushAnswer with) {
    EXPECT_TRUE(scheduler->hear({pushes.back().ticket, std::move(with)}));
  }
  [[nodiscard]] const model::Push& last() const { return pushes.back().push; }
  [[nodiscard]] std::vector<std::string> waiting() const {
    std::vector<std::string> out;
    for (const auto& task : last().tasks) out.push_back(task.id);
    return out;
  }
};

TEST_F(OutsideSchedulerTest, PushesAtItsIntervalWhatWaitsAndWhatIsIdle) {
  add_task(1s, 4, 7s);
  add_task(1s, 2, 7s);
  add_machine(3);
  add_machine(4, "other");
  begin();
  run_for(12s);
  ASSERT_EQ(pushes.size(), 3U) << "at 0, 5 and 10 s";
  EXPECT_EQ(pushes[0].pool, "gpu");
  EXPECT_THAT(pushes[0].push.agents, ElementsAre(PushedAgent{"h-3", true}));
  EXPECT_THAT(pushes[1].push.agents, ElementsAre(PushedAgent{"h-3", false}));
  EXPECT_THAT(pushes[1].push.tasks, ElementsAre(model::PushedTask{"2", 2, ""}));
  EXPECT_THAT(last().tasks, IsEmpty()) << "it started when the first had ended";
  EXPECT_EQ(last().sequence, 3U);
  EXPECT_EQ(count.figures.ended, 1U);
  EXPECT_EQ(count.complete().wait_most, 7s);
}

TEST_F(OutsideSchedulerTest, PushesPlaceholdersThatHaveNoRoomAfterItsTasks) {
  tasks.spare = {1, 4};
  add_task(1s, 8, 7s);
  add_machine(3);
  begin();
  run_for(7s);
  EXPECT_THAT(last().tasks,
              ElementsAre(model::PushedTask{"1", 8, ""}, model::PushedTask{"spare-1", 1, ""}));
  EXPECT_THAT(last().agents, ElementsAre(PushedAgent{"h-3", false}));
}

TEST_F(OutsideSchedulerTest, NamesAgentsAsItsPoolSays) {
  pool.pushed->agent_name = model::AgentName::kCloudId;
  add_machine(3);
  begin();
  EXPECT_THAT(last().agents, ElementsAre(PushedAgent{"i-3", true}));
}

TEST_F(OutsideSchedulerTest, AMachineThatBootsOrNeverComesUpHasNoAgent) {
  add_machine(1);
  machines.back().ready_at = time.now() + 6s;
  add_machine(2);
  machines.back().comes_up = false;
  begin();
  EXPECT_THAT(last().agents, IsEmpty());
  run_for(11s);
  EXPECT_THAT(last().agents, ElementsAre(PushedAgent{"h-1", true}));
}

TEST_F(OutsideSchedulerTest, SaysWhatItHasSeenAndPlacesNothingOnWhatGoes) {
  add_task(1s, 4, 1s);
  add_machine(1);
  begin();
  EXPECT_EQ(last().seen, 0U);
  answer({.answer = 41, .going = {"h-1"}, .unknown_agents = {}, .never_fits = {}});
  run_for(6s);
  EXPECT_EQ(last().seen, 41U);
  EXPECT_THAT(waiting(), ElementsAre("1"));
  answer({.answer = 42, .going = {}, .unknown_agents = {}, .never_fits = {}});
  run_for(10s);
  EXPECT_THAT(waiting(), IsEmpty());
  EXPECT_EQ(last().seen, 42U);
}

TEST_F(OutsideSchedulerTest, TasksOfALostHostStartAgainBeforeOthersAndCountOneWait) {
  for (int i = 0; i < 2; ++i) add_task(1s, 4, 1min);
  add_machine(1);
  begin();
  run_for(3s);
  machines.clear();
  scheduler->lost(InstanceId{1});
  run_for(5s);
  EXPECT_THAT(last().agents, IsEmpty());
  EXPECT_THAT(waiting(), ElementsAre("1", "2"));
  scheduler->end(10s);
  const TaskFigures figures = count.complete();
  EXPECT_EQ(figures.started_again, 1U);
  EXPECT_EQ(figures.waiting, 2);
  EXPECT_EQ(figures.ended, 0U);
  EXPECT_EQ(std::chrono::round<std::chrono::seconds>(figures.wait_most), 9s)
      << "of the one that never started";
  EXPECT_EQ(std::chrono::round<std::chrono::milliseconds>(figures.wait_mean), 4500ms)
      << "the other one did at once";
}

TEST_F(OutsideSchedulerTest, AGroupUsesNoMoreThanItsMaximum) {
  tasks.group_max["g"] = 2;
  for (int i = 0; i < 2; ++i) add_task(1s, 2, 7s, "g");
  add_task(1s, 2, 7s, "other");
  add_machine(1);
  begin();
  run_for(6s);
  EXPECT_THAT(waiting(), ElementsAre("2"));
  EXPECT_EQ(last().group_max.at("g"), 2);
}

TEST_F(OutsideSchedulerTest, GivesUpTasksThatNeverFitAndCountsRefusedPushes) {
  for (int i = 0; i < 2; ++i) add_task(1s, 12, 1s);
  begin();
  run_for(6s);
  answer({.answer = 1, .going = {}, .unknown_agents = {}, .never_fits = {{"1", {8, 16}}}});
  run_for(5s);
  EXPECT_THAT(waiting(), ElementsAre("2"));
  EXPECT_TRUE(scheduler->hear({pushes.back().ticket, fail(Errc::kConflict, "superseded")}));
  EXPECT_FALSE(scheduler->hear({7, fail(Errc::kConflict, "of somebody else")}));
  EXPECT_EQ(count.figures.never_fit, 1U);
  EXPECT_EQ(count.figures.pushes_refused, 1U);
  EXPECT_EQ(count.figures.refusal, "superseded");
}

}  // namespace
}  // namespace hostler::simulation
