#include "core/api/handlers.h"
#include "core/api/openapi.h"
#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

/// Requests about instance sets and gates.
namespace hostler::api {
namespace {

class SetRequestTest : public ApiTest {
 protected:
  Reply ask(const std::string& method, const std::string& target, const std::string& body = "") {
    return Wire::to_socket(socket).ask(method, target, body, "");
  }
};

TEST_F(SetRequestTest, AnAccountIsAcceptedBySet) {
  const auto set = std::string("/v1/sets/west/accept-account");
  EXPECT_EQ(ask("POST", set).status, 200);
  EXPECT_THAT(service.calls().back(), testing::StartsWith("accept-account west by "));
  service.error = Error{Errc::kNotFound, "no instance set 'west'"};
  EXPECT_EQ(ask("POST", set).status, 404);
  service.error = Error{Errc::kConflict, "there is nothing to accept"};
  EXPECT_EQ(ask("POST", set).status, 409);
}

TEST_F(SetRequestTest, AListIsBelievedByItsNumber) {
  const std::string believe = "/v1/sets/west/believe";
  EXPECT_EQ(ask("POST", believe, R"({"list": 7})").status, 200);
  EXPECT_THAT(service.calls().back(), testing::StartsWith("believe list 7 of west by "));
  EXPECT_EQ(ask("POST", believe, R"({"list": 0})").path(), "list");
  EXPECT_EQ(ask("POST", believe, "{}").status, 400);
  EXPECT_EQ(ask("POST", believe).status, 400);
  EXPECT_EQ(ask("POST", "/v1/sets/west/give-up").status, 200);
  EXPECT_THAT(service.calls().back(), testing::StartsWith("give up west by "));
}

TEST_F(SetRequestTest, ASetShowsWhatItsListOmitsAndWhatFollowsFromIt) {
  service.set_views.resize(1);
  auto& set = service.set_views[0];
  set.name = "west";
  set.list = 7;
  set.missing = {{1}, {2}};
  set.doubt = set.partition = Wall{1'000'000};
  set.asking = true;
  set.creates_refused = "the last list omits 2 instances";
  set.conditions = {"one", "two"};
  EXPECT_EQ(ask("GET", "/v1/sets").body,
            R"({"sets":[{"name":"west","open":false,"foreign_owner":false,"list":7,)"
            R"("missing":["h-1","h-2"],"doubt":{"since":"1970-01-01T00:00:01Z","asking":true},)"
            R"("partition":{"since":"1970-01-01T00:00:01Z"},)"
            R"("creates_refused":"the last list omits 2 instances",)"
            R"("conditions":["one","two"]}]})"
            "\n");
}

TEST_F(SetRequestTest, ASetShowsTheInstancesThatAreNotAdoptedYet) {
  service.set_views.resize(1);
  auto& set = service.set_views[0];
  set.name = "west";
  set.list = 8;
  set.strangers = model::SetView::Strangers{.count = 9, .ids = {"i-1"}, .doubted = {}};
  const std::string before =
      R"({"sets":[{"name":"west","open":false,"foreign_owner":false,"list":8,"missing":[],)"
      R"("unknown_instances":{"count":9,"ids":["i-1"])";
  EXPECT_EQ(ask("GET", "/v1/sets").body, before + "}}]}\n");
  set.strangers->doubted = Wall{1'000'000};
  EXPECT_EQ(ask("GET", "/v1/sets").body,
            before + R"(,"doubted_since":"1970-01-01T00:00:01Z"}}]})" + "\n");
}

TEST_F(SetRequestTest, ASetShowsItsAccountAndTheReportedOne) {
  service.set_views.resize(2);
  service.set_views[0].name = "west";
  service.set_views[0].open = true;
  service.set_views[1].name = "east";
  service.set_views[1].account = "a1";
  service.set_views[1].reported = {"b2", "us"};
  const auto got = ask("GET", "/v1/sets");
  EXPECT_EQ(got.body,
            R"({"sets":[{"name":"west","open":true,"foreign_owner":false,"list":0,"missing":[]},)"
            R"({"name":"east","open":false,"foreign_owner":false,"account":"a1",)"
            R"("reported":{"account":"b2","region":"us"},"list":0,"missing":[]}]})"
            "\n");
}

// Bug: `market` was missing, so two crashes looked alike.
TEST_F(SetRequestTest, ASetShowsTheCreateInWhichItsDriverDied) {
  service.set_views.resize(1);
  auto& crash = service.set_views[0].crashes.emplace_back();
  crash.type = "small";
  crash.zone = "a";
  crash.market = model::Market::kSpot;
  crash.pool = "default";
  crash.failures = 1;
  crash.crash = model::DriverCrash{{"bad", "1.0", "file 1"}, "create", "died", ""};
  EXPECT_THAT(ask("GET", "/v1/sets").body,
              testing::HasSubstr(R"("crashes":[{"call":"create","type":"small","zone":"a",)"
                                 R"("market":"spot","pool":"default","driver":"bad",)"));
}

TEST_F(SetRequestTest, AGateIsOpenedByItsKeyWhichMayHaveSpaces) {
  const char* body = R"({"key": "west quota op=create type=big zone="})";
  EXPECT_EQ(ask("POST", "/v1/gates/open", body).status, 200);
  EXPECT_THAT(service.calls().back(),
              testing::StartsWith("open gate west quota op=create type=big zone= by "));
  EXPECT_EQ(ask("POST", "/v1/gates/open").status, 400);
  EXPECT_EQ(ask("POST", "/v1/gates/open", "{}").status, 400);
  EXPECT_EQ(ask("POST", "/v1/gates/open", R"({"key": ""})").path(), "key");
  EXPECT_EQ(ask("POST", "/v1/gates/open", R"({"key": "a\nb"})").path(), "key");
  EXPECT_EQ(ask("POST", "/v1/gates/open", R"({"key": "a", "why": "b"})").path(), "why");
  const std::string longest(kGateKeyMax, 'k');
  EXPECT_EQ(ask("POST", "/v1/gates/open", R"({"key": ")" + longest + R"("})").status, 200);
  EXPECT_EQ(ask("POST", "/v1/gates/open", R"({"key": ")" + longest + R"(k"})").path(), "key");
  service.error = Error{Errc::kNotFound, "there is no shut gate 'a'"};
  EXPECT_EQ(ask("POST", "/v1/gates/open", R"({"key": "a"})").status, 404);
}

// Bug: a subject had at most 300 bytes, so nobody could ask about a gate with long names in its
// key.
TEST_F(SetRequestTest, EveryGateThatCanBeOpenedCanBeAskedAbout) {
  const std::string why = "/v1/why?subject=gate%20" + std::string(kGateKeyMax, 'k');
  ASSERT_EQ(ask("GET", why).status, 200);
  EXPECT_EQ(service.calls().back(), "why gate " + std::string(kGateKeyMax, 'k'));
  const auto refused = ask("GET", why + "k");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.message(), "?subject= has 1030 bytes, the longest has 1029");
}

// The document is written by hand.
TEST(OpenapiTest, NamesTheLongestKeyOfAGate) {
  const auto document = std::string(openapi_json());
  const auto most = std::to_string(kGateKeyMax);
  EXPECT_THAT(document, testing::HasSubstr("gate .{1," + most + "}"));
  EXPECT_THAT(document, testing::HasSubstr(R"("maxLength": )" + most +
                                           R"(, "description": "The `key` of the gate")"));
}

}  // namespace
}  // namespace hostler::api
