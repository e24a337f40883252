#include "core/api/lease_codec.h"

#include <gmock/gmock.h>

#include "core/crypto/hash.h"
#include "core/crypto/ssh_keys.h"

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

TEST(LeaseCodecTest, AsksForAKindOfGpus) {
  const auto spec = read_lease(R"({"for": "1h", "needs": {"gpus": {"count": 8, "kind": "h100"}}})");
  ASSERT_TRUE(spec) << spec.error().message;
  const auto rows = submitted_lease(*spec);
  EXPECT_EQ(rows.work.shape.needs.gpus, 8);
  EXPECT_EQ(rows.work.shape.constraints.gpu, (model::GpuWish{.kind = "h100", .memory = 0}));
  EXPECT_EQ(read_lease(canonical_body(*spec)), *spec);

  std::string out;
  json::Writer w(out);
  write_lease(w, rows, {}, Sight::kPublic);
  EXPECT_THAT(out, testing::HasSubstr(R"("gpus":{"count":8,"kind":"h100"})"));
}

// ---- with a login -------------------------------------------------------------------------------

std::string new_key() {
  return crypto::parse_public_key(crypto::make_ed25519_key("").public_key)->line();
}
std::string with_keys(const std::vector<std::string>& keys, const std::string& more = "") {
  std::string out;
  json::Writer w(out);
  w.begin_object().member("for", "1h").key("ssh_keys").begin_array();
  for (const auto& key : keys) w.value(key);
  w.end_array();
  if (!more.empty()) w.member("notice_command", more);
  w.end_object();
  return out;
}
std::string refusal(const std::string& text) {
  const auto spec = read_lease(text);
  return spec ? "" : spec.error().message;
}

TEST(LeaseCodecTest, KeysAreKeptWithoutTheirCommentsAndReadBackAsTheSame) {
  const std::string key = new_key();
  const auto spec = read_lease(with_keys({key + " ann@home"}, "wall bye"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_THAT(spec->ssh_keys, testing::ElementsAre(key));
  EXPECT_EQ(spec->notice_command, "wall bye");
  EXPECT_EQ(read_lease(canonical_body(*spec)), *spec);
  EXPECT_EQ(submitted_lease(*spec).terms.ssh_keys, spec->ssh_keys);
  EXPECT_EQ(submitted_lease(*spec).terms.notice_command, "wall bye");
}

TEST(LeaseCodecTest, WhatIsNoKeyOfALoginIsRefusedAtItsPlace) {
  const std::string key = new_key();
  EXPECT_THAT(refusal(with_keys({key, "ssh-dss AAAA"})),
              testing::AllOf(HasSubstr("ssh_keys"), HasSubstr("key 2: DSA is too weak")));
  EXPECT_THAT(refusal(with_keys({"no-pty " + key})), HasSubstr("options before a key"));
  EXPECT_THAT(refusal(with_keys({key + "\n" + key})), HasSubstr("one line"));
  EXPECT_THAT(refusal(with_keys({key, key})), HasSubstr("the same as key 1"));
  EXPECT_THAT(refusal(with_keys(std::vector<std::string>(1000, key))),
              HasSubstr("found 1000 keys, allowed: 32"));
  EXPECT_THAT(refusal(with_keys({}, "wall bye")), HasSubstr("only with ssh_keys"));
}

// Bug: 1,000 copies of one request took 100 MB.
TEST(LeaseCodecTest, AGangWhoseLeasesAreTooLargeTogetherIsRefused) {
  const auto gang = [key = new_key()](std::uint32_t count, std::size_t command) {
    const std::string body = with_keys({key}, std::string(command, 'c'));
    return R"({"count": )" + std::to_string(count) + ", " + body.substr(1);
  };
  EXPECT_EQ(refusal(gang(1000, 4000)), "");
  EXPECT_EQ(refusal(gang(400, 16384)), "");
  EXPECT_THAT(refusal(gang(1000, 16384)),
              testing::AllOf(testing::StartsWith("count: "), HasSubstr("ask for at most 50")));
}

TEST(LeaseCodecTest, ShowsHowAGrantedHostIsReachedAndItsKeysToTheHolderAlone) {
  const std::string key = new_key(), host_key = new_key(), next_key = new_key(),
                    jump_key = new_key();
  LeaseRows lease = submitted_lease(read_lease(with_keys({key}, "wall bye")).value());
  lease.work.record.id.value = 3;
  lease.work.record.state = model::WorkState::kRunning;
  lease.terms.login = model::Login::kUser;
  LeaseNow now;
  now.host.emplace();
  now.host->record.address = "10.0.0.7";
  now.host->record.identity.public_key = host_key;
  now.jump_host = JumpHost{"bastion", 2222, jump_key};
  const auto shown = [&](Sight sight) {
    std::string out;
    json::Writer w(out);
    write_lease(w, lease, now, sight);
    return out;
  };

  const std::string all = shown(Sight::kAll);
  EXPECT_THAT(all, HasSubstr(R"("address":"10.0.0.7","ssh_port":22,"known_hosts":["10.0.0.7 )" +
                             host_key + R"(","[bastion]:2222 )" + jump_key +
                             R"("],"jump_host":{"host":"bastion","port":2222},)"
                             R"("user":"hostler-l3","notice_file":"/)"));
  EXPECT_THAT(all, HasSubstr(R"("ssh_keys":[")" + key));
  EXPECT_THAT(shown(Sight::kPublic), testing::Not(HasSubstr(key)));
  EXPECT_THAT(shown(Sight::kPublic), testing::Not(HasSubstr("wall bye")));

  // While the key of the host is replaced, it may show either.
  now.host->record.identity.next_public_key = next_key;
  EXPECT_THAT(shown(Sight::kAll), HasSubstr(R"("known_hosts":["10.0.0.7 )" + host_key +
                                            R"(","10.0.0.7 )" + next_key + R"(","[bastion])"));

  lease.terms.login = model::Login::kRoot;
  EXPECT_THAT(shown(Sight::kAll), HasSubstr(R"("user":"root")"));
  lease.work.record.state = model::WorkState::kCollecting;
  EXPECT_THAT(shown(Sight::kAll), testing::Not(HasSubstr("10.0.0.7")));
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
