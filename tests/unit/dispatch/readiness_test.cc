#include "tests/unit/dispatch/story.h"

/// Pools whose hosts have no agent: what is sent to them, and who says that they are ready.
namespace hostler::dispatch {
namespace {

using model::Readiness;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class AgentlessTest : public testing::Test {
 protected:
  /// The first host of a pool that keeps one; it boots.
  InstanceId start(Readiness kind) {
    auto site = small_site();
    site.pools[0].readiness = kind;
    site.pools[0].leases.emplace();
    site.pools[0].sizes.min = 1;
    story = Story(site);
    story.begin();
    return story.all<CreateCall>().at(0).instance;
  }
  void create(InstanceId id) {
    story.say(CreateSeen{id, story.seen(id)});
    story.create_ended(id);
  }
  Result<std::vector<WorkId>> report(InstanceId id) {
    return story.ask(ReportReady{0, "token ci", id});
  }

  Story story;
};

TEST_F(AgentlessTest, WithSshAHostIsProvedAndRunsNoJob) {
  const auto id = start(Readiness::kSsh);
  create(id);
  ASSERT_THAT(story.commands<model::ConnectHost>(), Not(IsEmpty()));
  EXPECT_FALSE(story.commands<model::ConnectHost>().back().target.with_agent);
  story.host(id, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  EXPECT_EQ(story.state(id), InstanceState::kBooting);
  story.host(id, model::HostBooted{"boot-1"});
  EXPECT_EQ(story.state(id), InstanceState::kIdle);
  const auto answer = story.ask(Submit{0, "ann", {story.job()}});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("pool default runs no jobs"));
}

TEST_F(AgentlessTest, AHostWithAnAgentGetsOne) {
  story.begin();
  (void)story.running();
  ASSERT_THAT(story.commands<model::ConnectHost>(), Not(IsEmpty()));
  EXPECT_TRUE(story.commands<model::ConnectHost>().back().target.with_agent);
}

TEST_F(AgentlessTest, WithCloudAHostIsReadyWhenAListShowsItAndNobodyConnects) {
  const auto id = start(Readiness::kCloud);
  create(id);
  story.list({story.seen(id)});
  EXPECT_EQ(story.state(id), InstanceState::kIdle);
  EXPECT_THAT(story.commands<model::ConnectHost>(), IsEmpty());
}

TEST_F(AgentlessTest, AReportMakesAHostReadyAndTheLedgerHasWhoReportedIt) {
  const auto id = start(Readiness::kReported);
  const auto early = report(id);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Errc::kUnavailable) << early.error().message;
  create(id);
  story.list({story.seen(id)});
  EXPECT_EQ(story.state(id), InstanceState::kBooting);
  EXPECT_THAT(story.commands<model::ConnectHost>(), IsEmpty());
  ASSERT_TRUE(report(id));
  EXPECT_EQ(story.state(id), InstanceState::kIdle);
  EXPECT_EQ(story.record(id).reason, "reported by token ci");
  EXPECT_THAT(story.ledger(), Contains(StartsWith(id.text() + " ready")));

  story.clear();
  EXPECT_TRUE(report(id)) << "a script may repeat it";
  EXPECT_THAT(story.ledger(), Not(Contains(StartsWith(id.text()))));
}

TEST_F(AgentlessTest, AReportIsRefusedForHostsOfOtherPoolsAndForThoseThatEnd) {
  const auto id = start(Readiness::kReported);
  create(id);
  EXPECT_TRUE(story.ask(KillInstance{0, "root", id, ""}));
  const auto late = report(id);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kConflict);
  EXPECT_THAT(late.error().message, HasSubstr("is terminating"));
  const auto nobody = report(InstanceId{999});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, Errc::kNotFound);

  const auto other = start(Readiness::kSsh);
  create(other);
  const auto refused = report(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("whose readiness is \"ssh\""));
}

// Bug: one list ended the lease.
TEST_F(AgentlessTest, ALentHostWithoutAConnectionIsGivenUpOnceTwoListsShowItFailed) {
  const auto id = start(Readiness::kCloud);
  create(id);
  story.list({story.seen(id)});
  const WorkId lease = story.borrow(story.lease());
  ASSERT_EQ(story.lease_state(lease), "granted");
  const auto list = [&](model::CloudState state) { story.list({story.seen(id, state)}); };
  list(model::CloudState::kFailed);
  EXPECT_EQ(story.state(id), InstanceState::kBusy) << "one list may be false";
  list(model::CloudState::kRunning);
  list(model::CloudState::kFailed);
  EXPECT_EQ(story.state(id), InstanceState::kBusy) << "a list has contradicted the first one";
  EXPECT_EQ(story.lease_state(lease), "granted");
  list(model::CloudState::kFailed);
  EXPECT_EQ(story.state(id), InstanceState::kTerminating);
  EXPECT_EQ(story.record(id).reason_code, model::Reason::kCloudFailed);
}

// Nobody knows whether it was lent since the backup was made.
TEST_F(AgentlessTest, AfterARestoreAnAdminHearsThatTheHostIsLentToNobody) {
  auto site = small_site();
  site.pools[0].readiness = Readiness::kCloud;
  site.pools[0].leases.emplace();
  model::InstanceChanged row;
  row.record.id = {7};
  row.record.set = "west";
  row.record.pool = "default";
  row.record.type = "small";
  row.record.state = InstanceState::kIdle;
  row.record.provider_id = "i-7";
  row.record.idempotency_key = "key-old";
  row.record.restored = true;
  model::Restored rows;
  rows.last_instance = 7;
  rows.instances = {row};
  story = Story(site);
  story.begin(std::move(rows));
  story.list({story.seen({7})});
  const auto view = story.dispatcher.queries().instance({7}, story.now);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->record.restored);
  EXPECT_THAT(view->conditions, Contains(HasSubstr("may have been lent")));
}

}  // namespace
}  // namespace hostler::dispatch
