// What of the calls of a set comes into its recording, and what never does.
#include "core/tap/recorder.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/json/writer.h"
#include "core/tap/reader.h"
#include "tests/temp_folder.h"
#include "tests/unit/tap/fake_set.h"

namespace hostler::tap {
namespace {

using namespace std::chrono_literals;
using plugin_host::DriverSet;
using plugin_host::SetConfig;
using testing::HasSubstr;
using testing::Not;

class RecorderTest : public testing::Test {
 protected:
  RecorderTest() { begin(); }

  void begin() {
    auto fake = std::make_unique<FakeSet>();
    fake_ = fake.get();
    file_ = *RecordingFile::open(
        {.path = folder_ / "w", .set = "west", .driver = "ec2", .clock = [this] { return now_; }});
    set_ = record(std::move(fake), file_, "0.1");
  }
  /// Closes the recording and returns it.
  std::string text() {
    set_.reset();
    file_.reset();
    return read_file(folder_ / "w", std::size_t{16} << 20).value_or("");
  }
  std::vector<Call> calls() {
    std::vector<Call> out;
    const auto read = parse_recording(text(), "w", [&](const Line& line) -> Result<void> {
      if (const auto* call = std::get_if<Call>(&line)) out.push_back(*call);
      return {};
    });
    EXPECT_TRUE(read) << read.error().message;
    return out;
  }
  static model::CreateRequest request() {
    model::CreateRequest out;
    out.idempotency_key = "the-idempotency-key";
    out.type.name = "small";
    out.type.provider_type = "t3.small";
    out.user_data = "#!/bin/sh\nthe-user-data";
    out.ssh_host_key_private = "the-private-key";
    out.ssh_host_key_public = "ssh-ed25519 the-host-key";
    out.ssh_public_keys = {"ssh-ed25519 the-login-key"};
    out.tags = {
        {"hostler-set", "west"}, {"hostler-key", "the-idempotency-key"}, {"team", "tag-of-a-site"}};
    return out;
  }
  void create() { set_->create(request(), 1s, {}, ignored<model::ListedInstance>()); }
  void list() { set_->list({}, 1s, ignored<std::vector<model::ListedInstance>>()); }

  const test::TempFolder folder_;
  Now now_{Mono(100s), Wall{1'700'000'000'000'000}};
  FakeSet* fake_ = nullptr;
  std::shared_ptr<RecordingFile> file_;
  std::unique_ptr<DriverSet> set_;
};

TEST_F(RecorderTest, ACallIsRecordedWithItsTimesRequestStatusAndRecords) {
  now_.mono += 2s;
  create();
  const auto all = calls();

  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].function, Function::kCreate);
  EXPECT_EQ(all[0].start, 2s);
  EXPECT_TRUE(all[0].ok());
  EXPECT_EQ(all[0].request().at("provider_type").text_or(""), "t3.small");
  EXPECT_EQ(all[0].records().size(), 1U);
}

TEST_F(RecorderTest, TheCallerGetsWhatTheDriverSaid) {
  std::string id, error;
  set_->create(request(), 1s, {}, [&](const auto& result) { id = result->id; });
  fake_->fail_next = FakeSet::error(model::CloudErrorClass::kCapacity, "none left");
  set_->create(request(), 1s, {}, [&](const auto& result) { error = result.error().message; });

  EXPECT_EQ(id, "i-1");
  EXPECT_EQ(error, "none left");
  EXPECT_EQ(fake_->creates.at(0), request()) << "the driver gets the request as it was";
}

TEST_F(RecorderTest, AFailureIsRecordedWithItsClassAndWhatTheHostReactsTo) {
  auto error = FakeSet::error(model::CloudErrorClass::kQuota, "too many");
  error.scope = model::scope::kAccount;
  error.retry_after = 3s;
  error.outcome_unknown = true;
  fake_->fail_next = error;
  create();
  const auto all = calls();

  EXPECT_EQ(all.at(0).status, "quota");
  EXPECT_EQ(all[0].error().at("message").text_or(""), "too many");
  EXPECT_EQ(all[0].error().at("scope").int_or(0), model::scope::kAccount);
  EXPECT_EQ(all[0].error().at("retry_after_us").int_or(0), 3'000'000);
  EXPECT_TRUE(all[0].error().at("outcome_unknown").bool_or(false));
}

TEST_F(RecorderTest, SecretsNeverReachTheFile) {
  set_->open({.set_id = "west",
              .config_json = R"({"region": "west", "password": "the-password"})",
              .credentials_json = R"({"secret": "the-credential"})"},
             1s, ignored<model::SetInfo>());
  create();
  set_->read_console({.id = "i-1"}, 1s, ignored<model::ConsoleText>());
  set_->verify_host_key({"i-1", "ssh-ed25519", "the-key-blob"}, 1s, ignored<DriverSet::Nothing>());
  fake_->fail_next =
      FakeSet::error(model::CloudErrorClass::kAuth, "the-credential and the-password are refused");
  list();
  EXPECT_EQ(fake_->config.credentials_json, R"({"secret": "the-credential"})");
  const std::string all = text();

  for (const char* secret :
       {"the-credential", "the-password", "the-idempotency-key", "the-user-data", "the-private-key",
        "the-host-key", "the-login-key", "tag-of-a-site", "the-key-blob", "the host's private key"})
    EXPECT_THAT(all, Not(HasSubstr(secret)));
  EXPECT_THAT(all, HasSubstr("*** and *** are refused"));
}

TEST_F(RecorderTest, OfListsOnlyChangesAreRecorded) {
  create();
  create();
  list();
  list();
  fake_->instances["i-1"].state = model::CloudState::kRunning;
  list();
  fake_->instances.erase("i-1");
  list();
  const auto all = calls();

  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[2].records().size(), 2U);
  EXPECT_EQ(all[3].records().size(), 0U);
  EXPECT_EQ(all[3].line.root().at("same").int_or(0), 2);
  EXPECT_EQ(all[4].records().size(), 1U);
  EXPECT_THAT(json::to_text(all[5].line.root().at("gone")), R"(["i-1"])");
}

TEST_F(RecorderTest, AListOfManyInstancesIsSpreadOverTheNextLines) {
  for (int i = 0; i < 1000; ++i) {
    const std::string id = "i-" + std::to_string(i) + std::string(200, 'x');
    fake_->instances[id].id = id;
  }
  for (int i = 0; i < 30; ++i) list();
  std::size_t records = 0;
  for (const Call& call : calls()) records += call.records().size();

  EXPECT_EQ(records, 1000U);
}

TEST_F(RecorderTest, EveryCallHasItsLine) {
  using Nothing = DriverSet::Nothing;
  set_->open(SetConfig{}, 1s, ignored<model::SetInfo>());
  set_->info(1s, ignored<model::SetInfo>());
  create();
  list();
  set_->destroy({"i-1", "", ""}, 1s, ignored<Nothing>());
  set_->set_tags({"i-1", {}}, 1s, ignored<Nothing>());
  set_->verify_host_key({}, 1s, ignored<Nothing>());
  set_->price_history({}, 1s, ignored<std::vector<model::ZonePrice>>());
  set_->quota_group({}, 1s, ignored<std::string>());
  set_->start({}, 1s, ignored<Nothing>());
  set_->stop({}, 1s, ignored<Nothing>());
  set_->offerings({}, 1s, ignored<std::vector<model::CloudOffering>>());
  set_->watch_interruptions(
      1s, [](const model::Interruption&) {}, ignored<Nothing>());
  set_->read_console({}, 1s, ignored<model::ConsoleText>());
  set_->list_leftovers({}, 1s, ignored<std::vector<model::Leftover>>());
  set_->destroy_leftover({}, 1s, ignored<Nothing>());
  set_->find_images({}, 1s, ignored<std::vector<model::Image>>());
  const auto all = calls();

  ASSERT_EQ(all.size(), kFunctionNames.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(all[i].function), i) << to_string(all[i].function);
}

TEST_F(RecorderTest, AFullFileChangesNothingForTheCaller) {
  set_.reset();
  file_.reset();
  file_ = *RecordingFile::open({.path = folder_ / "small",
                                .bytes_max = 1024,
                                .set = "west",
                                .driver = "ec2",
                                .clock = [this] { return now_; }});
  set_ = record(std::make_unique<FakeSet>(), file_, "0.1");
  int answers = 0;
  for (int i = 0; i < 100; ++i) set_->list({}, 1s, [&](const auto&) { ++answers; });

  EXPECT_EQ(answers, 100);
}

}  // namespace
}  // namespace hostler::tap
