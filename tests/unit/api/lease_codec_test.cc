#include "core/api/lease_codec.h"

#include <gmock/gmock.h>

#include "core/crypto/hash.h"

namespace hostler::api {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string kWholeLease = R"({
  "name": "ci", "needs": {"vcpus": 2, "ram": "1.5GiB", "scratch": "10GB", "gpus": 1},
  "priority": -5, "constraints": {"types": ["b", "a"], "market": "spot", "zone": "z1"},
  "pool": "p", "for": "120m", "wait_max": "90s", "client_key": "k-1"})";

TEST(LeaseCodecTest, ReadsEveryMember) {
  const auto spec = read_lease(kWholeLease);
  ASSERT_TRUE(spec) << spec.error().message;

  EXPECT_EQ(spec->name, "ci");
  EXPECT_EQ(spec->needs, (model::Resources{2, 1, 1610612736, 10'000'000'000}));
  EXPECT_EQ(spec->priority, -5);
  EXPECT_EQ(spec->constraints, (model::Constraints{{"a", "b"}, model::Market::kSpot, "z1", {"p"}}));
  EXPECT_EQ(spec->term, Duration(2h));
  EXPECT_EQ(spec->wait_max, Duration(90s));
  EXPECT_EQ(spec->client_key, "k-1");
}

TEST(LeaseCodecTest, BodyReadsBackAsTheSameLease) {
  for (const std::string& text : {kWholeLease, std::string(R"({"for": "1s"})")}) {
    const auto spec = read_lease(text);
    ASSERT_TRUE(spec);
    const auto again = read_lease(canonical_body(*spec));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, *spec);
    EXPECT_EQ(canonical_body(*again), canonical_body(*spec));
  }
}

TEST(LeaseCodecTest, EqualLeasesHaveOneDigestAndOthersHaveAnother) {
  const auto digest = [](const std::string& text) {
    return submitted_lease(read_lease(text).value()).work.client_digest;
  };
  const std::string a = digest(R"({"for":"2h","client_key":"k","pool":"p",
                                   "constraints":{"types":["a","b"]}})");
  EXPECT_EQ(a, digest(R"({"constraints":{"types":["b","a"]},"pool":"p","priority":0,
                          "needs":{"ram":"1024MiB"},"client_key":"k","for":"120m"})"));
  for (const char* other :
       {R"({"for":"3h","client_key":"k","pool":"p","constraints":{"types":["a","b"]}})",
        R"({"for":"2h","client_key":"k","constraints":{"types":["a","b"]}})",
        R"({"for":"2h","client_key":"k","pool":"p","constraints":{"types":["a","b"]},
            "wait_max":"1m"})"})
    EXPECT_NE(a, digest(other)) << other;
  EXPECT_EQ(digest(R"({"for":"2h"})"), "");
}

TEST(LeaseCodecTest, NeedsWhatAJobNeedsByDefault) {
  const auto spec = read_lease(R"({"for": "1h"})");
  ASSERT_TRUE(spec) << spec.error().message;

  EXPECT_EQ(spec->needs, model::JobSpec().needs);
  EXPECT_EQ(spec->constraints, model::Constraints());
}

TEST(LeaseCodecTest, ShowsALeaseAsItIsNow) {
  LeaseRows lease = submitted_lease(read_lease(kWholeLease).value());
  model::WorkRecord& record = lease.work.record;
  record.id.value = 3;
  record.state = model::WorkState::kRunning;
  record.instance = {7};
  record.started = {2'000'000};
  lease.work.principal = "user ann";
  lease.work.submitted = {1'000'000};
  lease.terms.until = {3'000'000};
  LeaseNow now;
  now.host.emplace();
  now.host->record.pool = "p";
  now.host->record.type = "a";
  now.host->record.zone = "z1";
  now.host->record.market = model::Market::kSpot;
  now.host->record.price_per_hour = {250'000};
  now.host->record.address = "10.0.0.7";

  std::string out;
  json::Writer w(out);
  write_lease(w, lease, now, Sight::kAll);

  EXPECT_EQ(out,
            R"({"id":"l-3","name":"ci","state":"granted","instance":"h-7","principal":"user ann",)"
            R"("submitted":"1970-01-01T00:00:01.000000Z","granted":"1970-01-01T00:00:02.000000Z",)"
            R"("until":"1970-01-01T00:00:03.000000Z","host":{"pool":"p","type":"a","zone":"z1",)"
            R"("market":"spot","price_per_hour":0.25,"address":"10.0.0.7","ssh_port":22},)"
            R"("for":"2h","wait_max":"90s","pools":["p"],"needs":{"vcpus":2,"ram":"1536MiB",)"
            R"("scratch":"9765625KiB","gpus":1},"priority":-5,"constraints":{"types":["a","b"],)"
            R"("market":"spot","zone":"z1"},"client_key":"k-1"})");
}

TEST(LeaseCodecTest, SaysWhatAWaitingLeaseWaitsFor) {
  LeaseRows lease = submitted_lease(read_lease(R"({"for": "1h"})").value());
  lease.work.record.id.value = 1;
  std::string out;
  json::Writer w(out);
  LeaseNow now;
  now.waiting = model::WaitingView{model::WaitingCode::kHostComing, "waits for a host to boot", 3};
  write_lease(w, lease, now, Sight::kPublic);

  EXPECT_THAT(out, HasSubstr(R"("state":"waiting")"));
  EXPECT_THAT(out, HasSubstr(R"("waiting_because":{"code":"host_coming",)"
                             R"("reason":"waits for a host to boot","ahead":3})"));
}

}  // namespace
}  // namespace hostler::api
