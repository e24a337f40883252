#include "core/api/lease_codec.h"
#include "tests/unit/api/fake_service.h"
#include "tests/unit/api/wire.h"

namespace hostler::api {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class LeaseRequestTest : public ApiTest {
 protected:
  Reply ask(const std::string& method, const std::string& target, const std::string& body = "") {
    return Wire::to_socket(socket).ask(method, target, body);
  }
  std::string last_call() { return service.calls().back(); }
};

TEST_F(LeaseRequestTest, ALeaseIsAnsweredWithItsId) {
  const auto got =
      ask("POST", "/v1/leases", R"({"for": "2h", "pool": "p", "wait_max": "10m", "priority": 3})");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "{\"id\":\"l-3\"}\n");
  EXPECT_THAT(last_call(), StartsWith("submit_lease by "));
  const LeaseRows& rows = service.lease_rows;
  EXPECT_EQ(rows.terms.term, Duration(std::chrono::hours(2)));
  EXPECT_EQ(rows.terms.wait_max, Duration(std::chrono::minutes(10)));
  EXPECT_EQ(rows.work.record.id.kind, model::WorkKind::kLease);
  EXPECT_EQ(rows.work.shape.constraints.pools, std::vector<std::string>{"p"});
  EXPECT_EQ(rows.work.shape.priority, 3);
  EXPECT_TRUE(rows.work.shape.exclusive);
}

TEST_F(LeaseRequestTest, AGangIsAnsweredWithTheIdsOfAllItsLeases) {
  const auto got = ask("POST", "/v1/leases", R"({"for": "2h", "count": 2})");
  EXPECT_EQ(got.body, "{\"id\":\"l-3\",\"ids\":[\"l-3\",\"l-4\"]}\n");
}

TEST_F(LeaseRequestTest, ADryRunTakesWhatTheSubmitTakes) {
  const auto got = ask("POST", "/v1/leases/dry-run", R"({"for": "2h", "pool": "p"})");
  EXPECT_EQ(got.status, 200);
  EXPECT_THAT(got.body, StartsWith("{\"leases\":[{"));
  EXPECT_THAT(last_call(), StartsWith("dry_run_lease by "));
  EXPECT_EQ(service.lease_rows.terms.term, Duration(std::chrono::hours(2)));
  EXPECT_EQ(ask("POST", "/v1/leases/dry-run", "{}").status, 400);
}

TEST_F(LeaseRequestTest, EveryBadBodyIsRefusedWithWhatIsWrongAndWhere) {
  struct Row {
    std::string target, body, path, message;
  };
  const std::vector<Row> table{
      {"leases", "", "", "1:"},
      {"leases", "[]", "", "object"},
      {"leases", "{}", "for", "for"},
      {"leases", R"({"for": 7200})", "for", "found 7200"},
      {"leases", R"({"for": "0s"})", "for", "from 1s to 365d"},
      {"leases", R"({"for": "3650d"})", "for", "from 1s to 365d"},
      {"leases", R"({"for": "1h", "count": 0})", "count", "0"},
      {"leases", R"({"for": "1h", "count": 10000})", "count", "10000"},
      {"leases", R"({"for": "1h", "command": ["true"]})", "command", "unknown key"},
      {"leases", R"({"for": "1h", "pool": "Not A Name"})", "pool", "Not A Name"},
      {"leases", R"({"for": "1h", "pool": ["p"]})", "pool", "allowed"},
      {"leases", R"({"for": "1h", "wait_max": "0s"})", "wait_max", "0s"},
      {"leases", R"({"for": "1h", "needs": {"vcpus": -1}})", "needs.vcpus", "-1"},
      {"leases", R"({"for": "1h", "needs": {"gpus": {"memory": "40GiB"}}})", "needs.gpus.count",
       "missing"},
      {"leases", R"({"for": "1h", "constraints": {"pools": ["p"]}})", "constraints.pools",
       "unknown key"},
      {"leases/l-3/renew", "", "", "1:"},
      {"leases/l-3/renew", "{}", "for", "for"},
      {"leases/l-3/renew", R"({"for": "0s"})", "for", "from 1s to 365d"},
      {"leases/l-3/return", R"({"used": "no"})", "used", "found \"no\""},
      {"leases/l-3/return", R"({"unused": true})", "unused", "unknown key"},
  };
  for (const Row& row : table) {
    const auto got = ask("POST", "/v1/" + row.target, row.body);
    EXPECT_EQ(got.status, 400) << row.body;
    EXPECT_EQ(got.path(), row.path) << row.body;
    EXPECT_THAT(got.message(), HasSubstr(row.message)) << row.body;
  }
  EXPECT_THAT(service.calls(), IsEmpty());
}

TEST_F(LeaseRequestTest, AHostThatIsReturnedCountsAsUsedUnlessTheHolderSaysNo) {
  for (const std::string body : {"", "{}", R"({"used": true})"}) {
    EXPECT_EQ(ask("POST", "/v1/leases/l-3/return", body).status, 200);
    EXPECT_THAT(last_call(), StartsWith("return l-3 used by "));
  }
  EXPECT_EQ(ask("POST", "/v1/leases/l-3/return", R"({"used": false})").status, 200);
  EXPECT_THAT(last_call(), StartsWith("return l-3 unused by "));
}

TEST_F(LeaseRequestTest, ChangesNameTheLease) {
  EXPECT_EQ(ask("POST", "/v1/leases/l-3/renew", R"({"for": "90m"})").status, 200);
  EXPECT_THAT(last_call(), StartsWith("renew l-3 for 90m by "));
  EXPECT_EQ(ask("POST", "/v1/leases/l-3/cancel").status, 200);
  EXPECT_THAT(last_call(), StartsWith("cancel l-3 by "));
  EXPECT_EQ(ask("POST", "/v1/leases/l-3/release").status, 200);
  EXPECT_THAT(last_call(), StartsWith("release l-3 by "));
}

TEST_F(LeaseRequestTest, AWordForStatesStandsForAllThatHaveIt) {
  const auto got = ask("GET", "/v1/leases?state=ended,granted,ended");
  EXPECT_EQ(got.status, 200);
  EXPECT_THAT(last_call(), StartsWith("leases succeeded failed cancelled running 100 by "));
  EXPECT_THAT(got.body, HasSubstr(R"("next":"l-2")"));
}

TEST_F(LeaseRequestTest, TheAddressOfItsHostIsThereWhileItIsGranted) {
  service.host.emplace();
  service.host->record.pool = "p";
  service.host->record.type = "t";
  service.host->record.price_per_hour = {20'000};
  service.host->record.address = "10.0.0.7";
  service.lease_rows.work.record.state = model::WorkState::kStarting;
  EXPECT_THAT(ask("GET", "/v1/leases/l-3").body, Not(HasSubstr("address")));
  service.lease_rows.work.record.state = model::WorkState::kRunning;
  EXPECT_THAT(ask("GET", "/v1/leases/l-3").body,
              HasSubstr(R"("host":{"pool":"p","type":"t","market":"on_demand",)"
                        R"("price_per_hour":0.02,"address":"10.0.0.7","ssh_port":22})"));
}

TEST_F(LeaseRequestTest, AReaderSeesOfALeaseOfOthersNothingThatQuotesThem) {
  model::LeaseSpec spec;
  spec.client_key = "hush";
  service.lease_rows = submitted_lease(spec);
  service.lease_rows.work.record.reason_text = "hush";
  Wire wire = Wire::to_port(server->tcp_port());
  const auto got = wire.ask("GET", "/v1/leases/l-3", "", "Authorization: Bearer ReadReadRead\r\n");
  EXPECT_EQ(got.status, 200);
  EXPECT_THAT(got.body, Not(HasSubstr("hush")));
  EXPECT_THAT(ask("GET", "/v1/leases/l-3").body, HasSubstr(R"("client_key":"hush")"));
}

}  // namespace
}  // namespace hostler::api
