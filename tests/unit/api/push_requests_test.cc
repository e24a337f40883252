#include <cstring>

#include "core/crypto/hash.h"
#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// Pushes as requests: who may send them, how large they are, and how they are answered.
namespace hostler::api {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kInfo = "/v1/pools/gpu/scaling-info";
constexpr const char* kPush =
    R"({"session": "s", "sequence": 1, "agents": [], "tasks": [{"id": "t9", "slots": 12}]})";

class PushRequestTest : public ApiTest {
 protected:
  Reply ask(const std::string& token, const std::string& method, const std::string& target,
            const std::string& body = "") {
    return Wire::to_port(server->tcp_port())
        .ask(method, target, body, "Authorization: Bearer " + token + "\r\n");
  }
  Reply ask_on_socket(const std::string& method, const std::string& target,
                      const std::string& body = "") {
    return Wire::to_socket(socket).ask(method, target, body);
  }
};

TEST_F(PushRequestTest, APushIsAnsweredWithWhatIsToGoAndWhatNeverFits) {
  service.push_answer = {13, {"h-3"}, {}, {{"t9", {8, 16}}}};
  const auto got = ask("ScaleScale", "PUT", kInfo, kPush);
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, R"({"answer":13,"going":["h-3"],"unknown_agents":[],)"
                      R"("never_fits":[{"id":"t9","slots_that_would_do":[8,16]}]})"
                      "\n");
  EXPECT_THAT(service.calls(), ElementsAre("push for gpu by token sched"));
  EXPECT_THAT(service.pushed.tasks, ElementsAre(model::PushedTask{"t9", 12, ""}));
}

TEST_F(PushRequestTest, OnlyTheSchedulerOfThePoolAndAdminsOnTheSocketPush) {
  for (const std::string token : {"ReadReadRead", "SubmitSubmit", "AdminAdmin"}) {
    const auto got = ask(token, "PUT", kInfo, kPush);
    EXPECT_EQ(got.status, 403) << token;
    EXPECT_THAT(got.message(), HasSubstr("this needs scaler")) << token;
  }
  const auto other = ask("ScaleScale", "PUT", "/v1/pools/cpu/scaling-info", kPush);
  EXPECT_EQ(other.status, 403);
  EXPECT_THAT(other.message(), HasSubstr("'cpu': it is not in the pools of the token"));
  EXPECT_EQ(ask("ScaleScale", "GET", "/v1/pools/cpu/scaling-info").status, 403);
  EXPECT_THAT(service.calls(), IsEmpty());
  EXPECT_EQ(ask_on_socket("PUT", kInfo, kPush).status, 200);
}

TEST_F(PushRequestTest, ASchedulerMayDoNothingElse) {
  for (const std::string path :
       {"/v1/pools", "/v1/jobs", "/v1/instances", "/metrics", "/v1/openapi.json", "/v1/events",
        "/v1/why?subject=pool%20gpu", "/v1/plan", "/v1/backup", "/v1/debug/dump"}) {
    const auto got = ask("ScaleScale", "GET", path);
    EXPECT_EQ(got.status, 403) << path;
    EXPECT_THAT(got.message(), HasSubstr("has the role scaler")) << path;
  }
  EXPECT_EQ(ask("ScaleScale", "POST", "/v1/jobs", "{}").status, 403);
  EXPECT_EQ(ask("ScaleScale", "POST", "/v1/instances/h-1/kill").status, 403);
  EXPECT_EQ(ask("ScaleScale", "GET", "/health").status, 200);
  EXPECT_THAT(service.calls(), IsEmpty());
}

TEST_F(PushRequestTest, TheNextRequestGoesByThePoolsThatTheTokenHasThen) {
  Wire kept = Wire::to_port(server->tcp_port());
  const std::string header = "Authorization: Bearer ScaleScale\r\n";
  EXPECT_EQ(kept.ask("PUT", kInfo, kPush, header).status, 200);
  server->set_tokens({Token{"sched", Role::kScaler, crypto::sha256_hex("ScaleScale"), {"cpu"}}});
  EXPECT_EQ(kept.ask("GET", kInfo, "", header).status, 403);
  EXPECT_EQ(kept.ask("PUT", "/v1/pools/cpu/scaling-info", kPush, header).status, 200);
}

TEST_F(PushRequestTest, BadPushesAreToldThePathAndReachNobody) {
  const auto got = ask("ScaleScale", "PUT", kInfo,
                       R"({"session": "s", "sequence": 1, "agents": [], "tasks": [{"id": "t"}]})");
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(got.path(), "tasks[0].slots");
  EXPECT_THAT(service.calls(), IsEmpty());
}

TEST_F(PushRequestTest, APushOfMoreThanFourMebibytesIsNotRead) {
  Wire wire = Wire::to_port(server->tcp_port());
  (void)wire.send(
      "PUT /v1/pools/gpu/scaling-info HTTP/1.1\r\nHost: x\r\nContent-Length: 4194305\r\n"
      "Authorization: Bearer ScaleScale\r\n\r\n");
  EXPECT_EQ(wire.read().status, 413);
  // One that is as large as it may be is read, though this site takes small submits only.
  const std::string large = kPush + std::string(model::kPushBytesMax - std::strlen(kPush), ' ');
  EXPECT_EQ(ask("ScaleScale", "PUT", kInfo, large).status, 200);
}

TEST_F(PushRequestTest, ASupersededSessionIsToldSo) {
  service.error = Error{Errc::kConflict, "session 's' is superseded by session 't'"};
  const auto got = ask("ScaleScale", "PUT", kInfo, kPush);
  EXPECT_EQ(got.status, 409);
  EXPECT_EQ(got.member("code"), "conflict");
  EXPECT_THAT(got.message(), HasSubstr("superseded"));
}

TEST_F(PushRequestTest, OthersSeeHowManySlotsTasksNeedAndNotTheirNames) {
  service.scaling.pool = "gpu";
  service.scaling.tasks = {{"hush", 4, ""}};
  for (const std::string token : {"ReadReadRead", "SubmitSubmit"})
    EXPECT_THAT(ask(token, "GET", kInfo).body,
                AllOf(Not(HasSubstr("hush")), HasSubstr(R"("tasks":[{"slots":4}])")))
        << token;
  for (const std::string token : {"AdminAdmin", "ScaleScale"})
    EXPECT_THAT(ask(token, "GET", kInfo).body, HasSubstr("hush")) << token;
  EXPECT_THAT(ask_on_socket("GET", kInfo).body, HasSubstr("hush"));
  EXPECT_THAT(service.calls().front(), StartsWith("scaling_info of gpu by token look"));
}

}  // namespace
}  // namespace hostler::api
