// The recorded calls, made against another build of the driver.
#include "core/tap/replay.h"

#include <gmock/gmock.h>

#include "core/tap/recorder.h"
#include "core/tap/replay_requests.h"
#include "tests/temp_folder.h"
#include "tests/unit/tap/fake_set.h"

namespace hostler::tap {
namespace {

using namespace std::chrono_literals;
using plugin_host::DriverSet;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReplayTest : public testing::Test {
 protected:
  ReplayTest() {
    const std::shared_ptr<RecordingFile> file = *RecordingFile::open(
        {.path = path_, .set = "west", .driver = "ec2", .clock = [] { return Now{}; }});
    const auto set = record(std::make_unique<FakeSet>(), file, "0.1");
    set->open(plugin_host::SetConfig{}, 1s, ignored<model::SetInfo>());
    for (const char* key : {"a", "a", "b"}) {
      model::CreateRequest request;
      request.idempotency_key = key;
      request.type.provider_type = "t3.small";
      request.type.resources.gpus = 3;
      request.type.gpu_groups = {{.kind = "a100", .memory = 40, .count = 2},
                                 {.kind = "t4", .memory = 0, .count = 1}};
      request.remote_user = "jane";
      request.user_data = "#!/bin/sh";
      request.ssh_public_keys = {"ssh-ed25519 AAAA"};
      request.tags = {{"hostler-set", "west"}, {"hostler-pool", "default"}, {"team", "x"}};
      set->create(request, 1s, {}, ignored<model::ListedInstance>());
    }
    set->list({}, 1s, ignored<std::vector<model::ListedInstance>>());
    set->stop({"i-1", ""}, 1s, ignored<DriverSet::Nothing>());
    set->destroy({"i-1", "", ""}, 1s, ignored<DriverSet::Nothing>());
    set->destroy({"i-of-another-time", "", ""}, 1s, ignored<DriverSet::Nothing>());
    set->verify_host_key({"i-3", "", ""}, 1s, ignored<DriverSet::Nothing>());
  }
  ReplayReport run(const ReplayOptions& options = {}) {
    const auto report = replay(path_, now_, options);
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(ReplayReport{});
  }

  const test::TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "w";
  FakeSet now_;
};

TEST_F(ReplayTest, TheSameBuildHasNoDifferencesAndLeavesNoInstances) {
  const ReplayReport report = run();

  EXPECT_THAT(report.differences, IsEmpty());
  EXPECT_EQ(report.recording.calls, 9U);
  EXPECT_EQ(report.made, 7U);
  EXPECT_EQ(report.skipped, 2U) << "of an unknown instance, and of a key that nobody has";
  EXPECT_THAT(report.left, IsEmpty());
  EXPECT_TRUE(now_.instances.empty());
}

TEST_F(ReplayTest, InstancesAreOfTheReplayAndTheSameKeyIsTheSameAgain) {
  run({.config_json = R"({"root": "/srv"})", .credentials_json = "{}"});

  ASSERT_EQ(now_.creates.size(), 3U);
  EXPECT_EQ(now_.creates[0].idempotency_key, now_.creates[1].idempotency_key);
  EXPECT_NE(now_.creates[0].idempotency_key, now_.creates[2].idempotency_key);
  EXPECT_EQ(now_.creates[0].type.provider_type, "t3.small");
  EXPECT_EQ(now_.creates[0].type.resources.gpus, 3);
  EXPECT_EQ(now_.creates[0].type.gpu_groups.at(0).kind, "a100");
  EXPECT_EQ(now_.creates[0].remote_user, "jane");
  EXPECT_THAT(now_.creates[0].ssh_public_keys, ElementsAre(HasSubstr("ssh-ed25519 ")));
  EXPECT_EQ(now_.creates[0].tags, (model::Tags{{"hostler-key", now_.creates[0].idempotency_key},
                                               {"hostler-owner", kReplaySet},
                                               {"hostler-pool", "default"},
                                               {"hostler-set", kReplaySet}}));
  EXPECT_EQ(now_.config.set_id, kReplaySet);
  EXPECT_EQ(now_.config.config_json, R"({"root": "/srv"})");
}

TEST_F(ReplayTest, AnotherBehaviourIsADifferenceThatNamesItsCall) {
  now_.zone = "";

  EXPECT_THAT(
      run().differences,
      testing::Contains("call 2 (create): records are without zone, which the recording has"));
}

TEST_F(ReplayTest, ItMakesNoMoreMachinesThanAllowed) {
  const ReplayReport report = run({.creates_max = 1});

  EXPECT_EQ(now_.creates.size(), 2U) << "both of the first key";
  EXPECT_GT(report.skipped, 2U);
}

TEST_F(ReplayTest, WhatIsStoppedDestroysWhatItHasMade) {
  int asked = 0;
  const ReplayReport report = run({.stop = [&] { return ++asked > 4; }});

  EXPECT_TRUE(report.stopped);
  EXPECT_FALSE(now_.creates.empty());
  EXPECT_TRUE(now_.instances.empty());
}

TEST_F(ReplayTest, AnInstanceThatCannotBeDestroyedIsNamed) {
  now_.destroys_that_fail = 1000;

  EXPECT_THAT(run().left, testing::Not(IsEmpty()));
}

TEST_F(ReplayTest, WhatACreateWithoutAnAnswerHasMadeIsFoundAndDestroyed) {
  now_.loses_answers = true;
  now_.instances["of-another"].id = "of-another";
  const ReplayReport report = run();

  EXPECT_THAT(report.differences,
              testing::Contains(HasSubstr("the status was ok, and is timeout")));
  EXPECT_EQ(now_.instances.size(), 1U) << "that of another stays";
}

TEST_F(ReplayTest, ADamagedRecordingMakesNoCalls) {
  const auto text = *read_file(path_, 1 << 20);
  folder_.put("w", text.substr(0, text.size() - 10));

  EXPECT_THAT(replay(path_, now_, {}).error().message, HasSubstr("it is cut"));
  EXPECT_TRUE(now_.creates.empty());
}

}  // namespace
}  // namespace hostler::tap
