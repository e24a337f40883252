#include "core/cli/commands.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/unit/api/fake_service.h"

/// Commands against the real server, with a fake daemon behind it.
namespace hostler::cli {
namespace {

using model::EndReason;
using model::WorkState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class CommandTest : public api::ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    client = std::make_unique<Client>(*Endpoint::find("unix://" + socket, ""));
  }
  void ended(WorkState state, EndReason reason, int exit_code = 0, int signal = 0) {
    service.job_record.state = state;
    service.job_record.reason = reason;
    service.job_record.exit_code = exit_code;
    service.job_record.signal = signal;
  }
  /// Its exit status; what it said is in `errors`.
  int run(const std::function<int()>& command) {
    testing::internal::CaptureStderr();
    const int status = command();
    errors = testing::internal::GetCapturedStderr();
    return status;
  }

  std::unique_ptr<Client> client;
  std::string errors;
};

TEST_F(CommandTest, WaitExitsWithTheJobsStatus) {
  struct Row {
    WorkState state;
    EndReason reason;
    int exit_code, signal, status;
  };
  const std::vector<Row> table{
      {WorkState::kSucceeded, EndReason::kExit, 0, 0, 0},
      {WorkState::kFailed, EndReason::kExit, 3, 0, 3},
      {WorkState::kFailed, EndReason::kSignal, 0, 9, 137},
      {WorkState::kFailed, EndReason::kTimeLimit, 0, 15, 124},
      {WorkState::kFailed, EndReason::kHostLost, 0, 0, 125},
      {WorkState::kFailed, EndReason::kStartFailed, 0, 0, 125},
      {WorkState::kCancelled, EndReason::kCancelled, 0, 0, 125},
      // Bug: a job that failed because its output was lost was a success to scripts.
      {WorkState::kFailed, EndReason::kOutputLost, 0, 0, 125},
  };
  for (const Row& row : table) {
    ended(row.state, row.reason, row.exit_code, row.signal);
    EXPECT_EQ(run([&] { return wait_all(*client, {"j-1"}, false); }), row.status)
        << to_string(row.reason);
  }
}

TEST_F(CommandTest, WaitPrintsTheJobsAsTheyEnded) {
  ended(WorkState::kFailed, EndReason::kExit, 3);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return wait_all(*client, {"j-1", "j-2"}, true); }), 3);
  const auto said = json::Document::parse(testing::internal::GetCapturedStdout());
  ASSERT_TRUE(said);
  const auto jobs = said->root().at("jobs");
  ASSERT_EQ(jobs.size(), 2U);
  for (const auto job : jobs.children()) EXPECT_EQ(job.at("exit_status").int_or(0), 3);
}

// Bug: an error in the stream was taken for output: a minute later it ended with status 0.
TEST_F(CommandTest, FollowingAJobThatIsNotThereFailsAtOnce) {
  service.error = Error{Errc::kNotFound, "no job j-9"};
  EXPECT_EQ(run([&] { return logs(*client, "j-9", false, true); }), exit_code::kNotFound);
  EXPECT_EQ(errors, "hostler: no job j-9\n");
}

// Bug: what a second attempt wrote was passed over up to the length of the first.
TEST_F(CommandTest, ASecondAttemptsOutputIsSaidAndShown) {
  for (const bool follow : {true, false}) {
    service.output_parts = {{1, "a long first line\n", 0, 0, false}, {2, "two\n", 0, 0, true}};
    service.output_part = {2, "", 4, 0, true};
    testing::internal::CaptureStdout();
    EXPECT_EQ(run([&] { return logs(*client, "j-1", false, follow); }), exit_code::kOk);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "a long first line\ntwo\n");
    EXPECT_EQ(errors, "hostler: the stdout of attempt 2 begins here\n");
  }
}

// Bug: the first that failed kept the rest from being held.
TEST_F(CommandTest, OneBadInstanceKeepsNoOtherFromBeingHeld) {
  EXPECT_EQ(run([&] {
              return act_on_instances(*client, "hold", {"x", "h-2", "h-3"}, "");
            }),
            exit_code::kUsage);
  EXPECT_THAT(errors, HasSubstr("'x' is no instance id"));
  EXPECT_THAT(service.calls(), ElementsAre(StartsWith("hold h-2"), StartsWith("hold h-3")));
}

TEST_F(CommandTest, AGateIsOpenedByItsKeyAndAMissingOneIsTold) {
  EXPECT_EQ(run([&] { return open_gate(*client, "west quota op=create group=\"a\""); }), 0);
  EXPECT_THAT(service.calls().back(), StartsWith("open gate west quota op=create group=\"a\" by "));
  service.error = Error{Errc::kNotFound, "there is no shut gate 'x'"};
  EXPECT_EQ(run([&] { return open_gate(*client, "x"); }), 4);
  EXPECT_THAT(errors, HasSubstr("there is no shut gate 'x'"));
}

TEST_F(CommandTest, FetchWritesBelowItsFolderOnly) {
  const auto into = (folder / "out").string();
  for (const std::string path : {"../escaped", "a/../../escaped", "/tmp/escaped"}) {
    service.files = {{path, 1}};
    EXPECT_EQ(run([&] { return fetch(*client, "j-1", into, false); }), exit_code::kFailed) << path;
    EXPECT_THAT(errors, HasSubstr("leaves the folder"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "escaped"));

  service.files = {{"a/b", 1}};
  EXPECT_EQ(run([&] { return fetch(*client, "j-1", into, false); }), exit_code::kOk);
  EXPECT_TRUE(std::filesystem::exists(folder / "out/a/b"));
  std::filesystem::remove(folder / "out/a/b");
  std::filesystem::create_symlink("/dev/null", folder / "out/a/b");
  EXPECT_EQ(run([&] { return fetch(*client, "j-1", into, false); }), exit_code::kRefused);
  EXPECT_THAT(errors, HasSubstr("symbolic link"));
}

// Bug: the file was emptied before it was known whether another would come.
TEST_F(CommandTest, FetchLeavesAFileAloneWhoseNextDoesNotCome) {
  const auto file = folder / "a";
  std::ofstream(file) << "old";
  service.files = {{"a", 1}};
  service.file_error = Error{Errc::kNotFound, "it is gone"};
  EXPECT_EQ(run([&] { return fetch(*client, "j-1", folder.path(), false); }), exit_code::kNotFound);
  EXPECT_THAT(errors, HasSubstr("it is gone"));
  const std::filesystem::directory_iterator left(folder.path());
  EXPECT_EQ(std::filesystem::file_size(file), 3U);
  EXPECT_EQ(std::count_if(begin(left), end(left),
                          [](const auto& one) { return one.path().string().ends_with(".part"); }),
            0);
}

TEST_F(CommandTest, SetsShowAnAccountThatDiffersAndAcceptIt) {
  model::SetView west;
  west.name = "west";
  west.problem = "the cloud reports account 'b2'";
  west.account = "a1";
  west.region = "eu";
  west.reported = {"b2", "us"};
  service.set_views = {west};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return sets(*client, false); }), exit_code::kOk);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_THAT(said, HasSubstr("not open,other_account"));
  EXPECT_THAT(said, testing::ContainsRegex("a1 +eu"));

  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return accept_account(*client, "west"); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "set west: account a1, region eu -> account b2, region us\n");
  EXPECT_THAT(service.calls().back(), StartsWith("accept-account west by "));
  service.error = Error{Errc::kConflict, "there is nothing to accept"};
  EXPECT_EQ(run([&] { return accept_account(*client, "west"); }), exit_code::kRefused);
}

TEST_F(CommandTest, AConsoleSaysHowOldItIsAndThatItIsCut) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return console(*client, "h-7", false); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "(there is more before this)\n(as of 1970-01-01T00:00:01Z)\nboot\nlogin:\n");
  EXPECT_THAT(service.calls().back(), StartsWith("console h-7 by "));
  EXPECT_EQ(run([&] { return console(*client, "seven", false); }), exit_code::kUsage);
}

TEST_F(CommandTest, AListIsBelievedOnlyAfterItsOmissionsWereShown) {
  model::SetView west;
  west.name = "west";
  west.list = 7;
  west.missing = {{1}, {2}};
  service.set_views = {west};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return believe_list(*client, "west", 0); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "h-1\nh-2\nlist 7 omits these instances. If they do not exist: "
            "hostler sets believe west --list 7\n");
  EXPECT_THAT(service.calls(), testing::Each(testing::Not(StartsWith("believe"))));

  service.instance_views.resize(2);
  service.instance_views[0].record.id = {2};
  service.instance_views[0].unlisted_since = Wall{1'000'000};
  service.instance_views[1].record.id = {3};
  service.instance_views[1].unlisted_since = Wall{1'000'000};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return believe_list(*client, "west", 7); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "h-2 stays: its host is connected\n");
  EXPECT_THAT(service.calls().back(), StartsWith("believe list 7 of west by "));
  EXPECT_NE(run([&] { return believe_list(*client, "east", 0); }), exit_code::kOk);
  EXPECT_EQ(run([&] { return give_up(*client, "west"); }), exit_code::kOk);
}

TEST_F(CommandTest, AListWithFarTooManyInstancesIsBelievedAfterSomeOfThemWereShown) {
  model::SetView west;
  west.name = "west";
  west.list = 8;
  west.missing = {{1}};
  west.strangers =
      model::SetView::Strangers{.count = 20000, .ids = {"i-1", "i-2"}, .doubted = Wall{1'000'000}};
  service.set_views = {west};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return believe_list(*client, "west", 0); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "i-1\ni-2\nlist 8 shows 20000 instances that hostlerd does not know, these first. If "
            "all of them are this site's: hostler sets believe west --list 8\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return believe_list(*client, "west", 8); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_THAT(service.calls().back(), StartsWith("believe list 8 of west by "));
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return sets(*client, false); }), exit_code::kOk);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr("list_doubted"));
}

TEST_F(CommandTest, AnInstanceShowsWhatIsWrongWithItOrElseTheLastStepOfItsBoot) {
  auto& views = service.instance_views;
  views.resize(2);
  views[0].record.id = {1};
  views[0].record.state = model::InstanceState::kBooting;
  views[0].record.reason = "the cloud's id is i-1";
  views[0].record.last_text = "connect: connection refused";
  views[1].record.id = {2};
  views[1].record.state = model::InstanceState::kBusy;
  views[1].unlisted_since = Wall{1'000'000};
  views[1].init_failed = true;
  views[1].conditions = {"omitted by lists", "its init command failed"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return instances(*client, false); }), exit_code::kOk);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_THAT(said, testing::ContainsRegex("h-1 .* connect: connection refused\n"));
  EXPECT_THAT(said, testing::ContainsRegex("h-2 +busy,unlisted,init_failed .*"
                                           "omitted by lists; its init command failed\n"));
}

TEST_F(CommandTest, ABootGateCountsHowOftenItWasShutAndAHalfOpenOneHasNoEnd) {
  auto& gates_of_site = service.gate_records;
  gates_of_site.resize(2);
  gates_of_site[0].key = "west boot";
  gates_of_site[0].cls = model::CloudErrorClass::kBoot;
  gates_of_site[0].failures = 1;
  gates_of_site[1].key = "west quota";
  gates_of_site[1].cls = model::CloudErrorClass::kQuota;
  gates_of_site[1].failures = 2;
  gates_of_site[1].until = Wall{1'000'000};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return gates(*client, false); }), exit_code::kOk);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_THAT(said, testing::ContainsRegex("west boot +half-open +shut 1 time\n"));
  EXPECT_THAT(said, testing::ContainsRegex("west quota +1970-01-01T00:00:01Z +2\n"));
}

TEST_F(CommandTest, ALeaseThatIsGrantedIsToldWithItsHostAndOneThatEndedWithItsReason) {
  LeaseOptions options;
  options.term = "2h";
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return lease(*client, options); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "l-3\n");

  model::WorkRecord& record = service.lease_rows.work.record;
  record.state = WorkState::kRunning;
  record.instance = {7};
  service.host.emplace().record.address = "10.0.0.7";
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return wait_for_grant(*client, "l-3", false); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "l-3 h-7 10.0.0.7 22\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return wait_all(*client, {"l-3", "l-4"}, false); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "l-3 h-7 10.0.0.7 22\nl-4 h-7 10.0.0.7 22\n");

  record.state = WorkState::kFailed;
  record.reason = EndReason::kWaitMax;
  record.reason_text = "it was not granted within 1s";
  EXPECT_EQ(run([&] { return wait_for_grant(*client, "l-3", false); }), exit_code::kNoStatus);
  EXPECT_EQ(errors, "hostler: l-3 has ended: wait_max: it was not granted within 1s\n");
  EXPECT_EQ(run([&] { return wait_all(*client, {"l-3"}, false); }), exit_code::kNoStatus);
  EXPECT_EQ(errors, "hostler: l-3 has ended: wait_max: it was not granted within 1s\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return leases(*client, {}); }), exit_code::kOk);
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              HasSubstr("wait_max: it was not granted within 1s\n"));
}

TEST_F(CommandTest, ABadLeaseIsRefusedBeforeTheDaemonIsAsked) {
  LeaseOptions options;
  options.term = "ten years";
  EXPECT_EQ(run([&] { return lease(*client, options); }), exit_code::kUsage);
  EXPECT_THAT(errors, HasSubstr("for: 'ten years' is not a duration"));
  EXPECT_THAT(service.calls(), testing::IsEmpty());
}

TEST_F(CommandTest, CommandsForWorkGoToTheRouteOfItsKind) {
  EXPECT_EQ(run([&] { return cancel(*client, {"j-1", "l-2"}); }), exit_code::kOk);
  EXPECT_EQ(run([&] { return release(*client, {"l-3"}); }), exit_code::kOk);
  EXPECT_EQ(run([&] { return give_back(*client, {"l-4"}, true); }), exit_code::kOk);
  EXPECT_EQ(run([&] { return give_back(*client, {"l-5"}, false); }), exit_code::kOk);
  service.lease_rows.terms.until = Wall{1'000'000};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return renew(*client, {"l-6", "l-7"}, "1h"); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "l-6 ends at 1970-01-01T00:00:01Z, in 1h\nl-7 ends at 1970-01-01T00:00:01Z, in 1h\n");
  EXPECT_THAT(service.calls(),
              ElementsAre(StartsWith("cancel j-1 by "), StartsWith("cancel l-2 by "),
                          StartsWith("release l-3 by "), StartsWith("return l-4 used by "),
                          StartsWith("return l-5 unused by "), StartsWith("renew l-6 for 1h by "),
                          StartsWith("lease l-6 by "), StartsWith("renew l-7 for 1h by "),
                          StartsWith("lease l-7 by ")));
}

TEST_F(CommandTest, APushPrintsWhatIsToGoAndWhatNeverFits) {
  const std::string file = folder / "push.json";
  std::ofstream(file) << R"({"session": "s", "sequence": 1, "agents": [], "tasks": []})";
  service.push_answer = {13, {"h-3", "\x1b[31m"}, {}, {{"t9", {8, 16}}}};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return push(*client, {"gpu", file, false}); }), exit_code::kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "answer: 13\ngoing: h-3 \\u001b[31m\n"
            "never fits: t9, it would with 8 or 16 slots\n");
  service.error = Error{Errc::kConflict, "token b pushes for this pool"};
  EXPECT_EQ(run([&] { return push(*client, {"gpu", file, true}); }), exit_code::kRefused);
  EXPECT_EQ(run([&] { return push(*client, {"gpu", folder / "none", true}); }), exit_code::kUsage);
}

TEST_F(CommandTest, LeasesAreThoseThatHaveNotEndedUnlessStatesAreNamed) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return leases(*client, {}); }), exit_code::kOk);
  LeasesOptions options;
  options.state = "granted";
  EXPECT_EQ(run([&] { return leases(*client, options); }), exit_code::kOk);
  (void)testing::internal::GetCapturedStdout();
  EXPECT_THAT(service.calls(), ElementsAre(StartsWith("leases queued starting running "),
                                           StartsWith("leases running 100 by ")));
}

TEST_F(CommandTest, LeasesShowWhatIsLeftOfATermAndAHostItsLease) {
  service.lease_rows.work.record.id = {3, model::WorkKind::kLease};
  service.lease_rows.work.record.state = WorkState::kRunning;
  service.lease_rows.work.principal = "user ann";
  service.lease_rows.terms.term = std::chrono::hours(2);
  service.lease_rows.terms.until = Wall{1'000'000};  // Long ago.
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return leases(*client, {}); }), exit_code::kOk);
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              testing::ContainsRegex("l-3 +granted +2h +0 .* user ann"));
  EXPECT_EQ(errors, "hostler: there are more leases, older than l-2; use a higher --limit\n");

  service.instance_views.resize(1);
  service.instance_views[0].lease = model::WorkId{3, model::WorkKind::kLease};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return instances(*client, false); }), exit_code::kOk);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("l-3"));
}

TEST_F(CommandTest, WhatTheDaemonRefusesIsToldWithItsStatus) {
  service.error = Error{Errc::kConflict, "client_key 'k' already names j-1"};
  SubmitOptions options;
  options.command = {"true"};
  EXPECT_EQ(run([&] { return submit(*client, options); }), exit_code::kRefused);
  EXPECT_EQ(errors, "hostler: client_key 'k' already names j-1\n");
}

// Bug: a submitter, who is not told what all instances cost, was told that it is nothing.
TEST_F(CommandTest, WhatAllInstancesCostIsToldToWhoMayKnowIt) {
  for (const bool may_know : {true, false}) {
    service.knows_all_costs = may_know;
    testing::internal::CaptureStdout();
    EXPECT_EQ(run([&] { return cost(*client, {}); }), exit_code::kOk);
    const std::string said = testing::internal::GetCapturedStdout();
    EXPECT_THAT(said, HasSubstr("user ann"));
    EXPECT_EQ(said.find("all instances: 2.5, of that unused: 0.5\n") != std::string::npos, may_know)
        << said;
    EXPECT_EQ(said.find("unused") != std::string::npos, may_know) << said;
  }
}

TEST_F(CommandTest, SharesSayWhoHasUsedWhatAndWhatIsForgotten) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run([&] { return shares(*client, false); }), exit_code::kOk);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_THAT(said, testing::ContainsRegex("user ann +1 +33\\.3 +1 +2 +0 +0\\.02 +5\n"));
  EXPECT_THAT(said, HasSubstr("recent use of all: 3; half of it is forgotten in 7 d\n"));
}

}  // namespace
}  // namespace hostler::cli
