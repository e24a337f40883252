#include <limits>

#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// Answers of single routes, by a real server with a fake daemon behind it.
namespace hostler::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class AnswerTest : public ApiTest {
 protected:
  Reply ask(const std::string& method, const std::string& target, const std::string& body = "") {
    return Wire::to_socket(socket).ask(method, target, body, "");
  }
};

TEST_F(AnswerTest, AQuotaThatTimeFreesSaysWhenToTryAgain) {
  service.error = Error{Errc::kOverQuota, "too fast"};
  EXPECT_FALSE(ask("POST", "/v1/jobs/j-1/cancel").headers.contains("retry-after"));
  service.error->retry_after_s = 7;
  EXPECT_EQ(ask("POST", "/v1/jobs/j-1/cancel").headers.at("retry-after"), "7");
}

TEST_F(AnswerTest, QuotasAreShownWithTheLimitsThatThereAre) {
  EXPECT_THAT(ask("GET", "/v1/quotas").body,
              AllOf(HasSubstr(R"("limits":{"jobs_waiting_max":10,"priority_max":-1,)"
                              R"("running_price_per_hour_max":2.5})"),
                    HasSubstr(R"("jobs_waiting":3)"), HasSubstr(R"("output_bytes":4096)")));
}

TEST_F(AnswerTest, TheCardsOfAHostAreShownByStateAndWithWhoHasThem) {
  model::InstanceView view;
  view.card_counts = {.free = 1, .used = 1, .bad = 0, .unknown = 0};
  view.guard = model::CardGuard::kOwners;
  model::CardView card;
  card.card.uuid = "GPU-1";
  card.card.kind = "a100";
  card.state = model::CardState::kUsed;
  card.attempt = model::AttemptId{{7}, 2};
  view.cards = {card};
  service.instance_views = {view};
  EXPECT_THAT(ask("GET", "/v1/instances").body,
              AllOf(HasSubstr(R"("gpus":{"free":1,"used":1,"bad":0,"unknown":0,"guard":"owners"})"),
                    HasSubstr(R"("cards":[{"uuid":"GPU-1","state":"used","index":0,)"
                              R"("kind":"a100","attempt":"j-7.2"}])")));
}

TEST_F(AnswerTest, BoundsThatAreExpressionsAreShownWithWhatTheyComeFromOrWhyTheyAreUnknown) {
  model::PoolView view;
  view.name = "web";
  view.created_min = 4;
  view.bounds = {{.bound = "min",
                  .expression = "rps / 100",
                  .computed = 2.5,
                  .wanted = 3,
                  .number = 5,
                  .changes = {"down window of 5m"},
                  .from = "rps 250",
                  .unknown = {}},
                 {.bound = "max",
                  .expression = "1 / rps",
                  .computed = std::numeric_limits<double>::infinity(),
                  .wanted = {},
                  .number = {},
                  .changes = {},
                  .from = {},
                  .unknown = "the expression gave infinity"}};
  view.conditions = {"its max is not known"};
  service.pool_views = {view};
  EXPECT_THAT(
      ask("GET", "/v1/pools").body,
      AllOf(HasSubstr(R"("created_min":4,"bounds":[{"bound":"min","expression":"rps / 100",)"
                      R"("computed":2.5,"wanted":3,"number":5,"changes":["down window of 5m"],)"
                      R"("from":"rps 250"},)"),
            HasSubstr(R"({"bound":"max","expression":"1 / rps",)"
                      R"("unknown":"the expression gave infinity"}],)"
                      R"("conditions":["its max is not known"])")));
}

TEST_F(AnswerTest, AHostThatDrainsSaysSo) {
  model::InstanceView view;
  view.record.drain_began = Wall{1'700'000'000'000'000};
  service.instance_views = {view};
  EXPECT_THAT(ask("GET", "/v1/instances").body,
              HasSubstr(R"("drain":{"began":"2023-11-14T22:13:20Z","over":false})"));
}

TEST_F(AnswerTest, OutputsAreDeletedByTheirRoute) {
  EXPECT_EQ(ask("DELETE", "/v1/jobs/j-1/outputs").body, "{\"bytes\":7}\n");
  EXPECT_EQ(ask("DELETE", "/v1/jobs/nope/outputs").status, 400);
  EXPECT_EQ(ask("GET", "/v1/jobs/j-1/outputs").status, 405);
  EXPECT_EQ(ask("GET", "/v1/leases/dry-run").headers.at("allow"), "POST") << "it is no id";
  EXPECT_EQ(ask("POST", "/v1/jobs/j-1/outputs/give-up").body, "{}\n");
  EXPECT_EQ(ask("POST", "/v1/jobs/nope/outputs/give-up").status, 400);
}

TEST_F(AnswerTest, AKillTakesAReasonAndNothingElse) {
  EXPECT_EQ(ask("POST", "/v1/instances/h-7/kill", R"({"reason": "fan"})").status, 200);
  EXPECT_THAT(service.calls().back(), testing::EndsWith(": fan"));
  EXPECT_EQ(ask("POST", "/v1/instances/h-7/kill", R"({"why": "fan"})").path(), "why");
  EXPECT_EQ(ask("POST", "/v1/instances/h-7/kill", R"({"reason": "a\nb"})").path(), "reason");
  EXPECT_EQ(ask("POST", "/v1/instances/j-7/kill").status, 400);
}

TEST_F(AnswerTest, ADumpHasAllThatThereIsInOneObject) {
  auto& dump = service.dump_view;
  dump.version = "1.2";
  dump.time = {1'000'000};
  dump.pools.emplace_back().name = "default";
  dump.parts.targets.push_back(
      {.pool = "default", .numbers = {{"started_max", 4, "pushed: 7 tasks"}}, .is_held = false});
  dump.sets.emplace_back().name = "west";
  dump.instances.emplace_back().record.id = {7};
  dump.parts.work.push_back({.kind = "job", .states = {{"queued", 100'000}}});
  dump.parts.placed.push_back({.work = {3, model::WorkKind::kLease},
                               .attempt = 0,
                               .host = {7},
                               .needs = {.vcpus = 1, .gpus = 0, .ram = 1, .scratch = 0},
                               .started = {}});
  dump.gates.emplace_back().key = "create west";
  dump.parts.calls.push_back({.of = "h-7", .call = "destroy", .about = {}, .since = {}});
  dump.parts.timers.push_back(
      {.at = {2'000'000}, .of = "set west", .what = "prices", .about = "small"});
  dump.snapshot = "{\"version\":1}\n";
  const auto body = ask("GET", "/v1/debug/dump").body;
  for (
      const std::string part :
      {R"("targets":[{"pool":"default","held":false,"numbers":[)"
       R"({"bound":"started_max","number":4,"because":"pushed: 7 tasks"}]}])",
       R"("instances":[{"id":"h-7")", R"("work":[{"kind":"job","states":{"queued":100000}}])",
       R"("placed":[{"work":"l-3","host":"h-7","needs":{"vcpus":1,"ram":1},"collecting":false}])",
       R"("gates":[{"key":"create west")", R"("calls":[{"of":"h-7","call":"destroy"}])",
       R"("timers":[{"at":"1970-01-01T00:00:02Z","of":"set west","what":"prices","about":"small"}])",
       R"("snapshot":{"version":1})"})
    EXPECT_THAT(body, HasSubstr(part));
  EXPECT_THAT(body, testing::Not(HasSubstr("conditions")));
}

TEST_F(AnswerTest, ADumpOfAnOldStateHasNoSnapshot) {
  service.dump_view.conditions = {"the state is old"};
  EXPECT_THAT(ask("GET", "/v1/debug/dump").body,
              AllOf(HasSubstr(R"("conditions":["the state is old"])"),
                    testing::Not(HasSubstr("snapshot"))));
}

TEST_F(AnswerTest, OutputIsTextOrHex) {
  service.output_part.data = "caf\xc3\xa9";
  EXPECT_EQ(ask("GET", "/v1/jobs/j-1/output").member("text"), "caf\xc3\xa9");
  service.output_part.data = std::string("\x00\xff", 2);
  EXPECT_EQ(ask("GET", "/v1/jobs/j-1/output").member("hex"), "00ff");
}

TEST_F(AnswerTest, AFileIsSentAsItsBytes) {
  service.error = Error{Errc::kNotFound, "no such file"};
  EXPECT_EQ(ask("GET", "/v1/jobs/j-1/files/a/b").status, 404);
  EXPECT_EQ(service.calls().back(), "file a/b");
}

}  // namespace
}  // namespace hostler::api
