#include "tests/unit/dispatch/leases.h"

/// The promises to holders of leases, from the submit on.
namespace hostler::dispatch {
namespace {

TEST_F(LeaseTest, ALeaseWaitsUntilItsHostIsReadyAndGetsItWhole) {
  const WorkId id = story.borrow(story.lease(2h));
  EXPECT_EQ(id.text(), "l-1");
  EXPECT_EQ(story.lease_state(id), "waiting");
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1));
  const InstanceId on = story.all<CreateCall>()[0].instance;
  EXPECT_EQ(lease_on(on), std::nullopt);
  EXPECT_EQ(story.dispatcher.queries().waiting(id)->code, model::WaitingCode::kHostComing);

  story.boot(on);
  EXPECT_EQ(story.lease_state(id), "granted");
  EXPECT_EQ(story.record(id).instance, on);
  EXPECT_EQ(story.state(on), InstanceState::kBusy);
  EXPECT_EQ(lease_on(on), id);
  EXPECT_THAT(story.ledger(), Contains("l-1 granting"));
  EXPECT_THAT(story.ledger(), Contains("l-1 granted"));
  const auto terms = story.journalled<model::LeaseChanged>().back().record;
  EXPECT_EQ(terms.id, id);
  EXPECT_EQ(terms.until, story.record(id).started + 2h);
  EXPECT_EQ(story.dispatcher.queries().totals(story.now.mono).leases[2], 1U);
}

TEST_F(LeaseTest, JobsAndLeasesAreNumberedByOneCounter) {
  const WorkId job = story.submit({story.job()}).at(0);
  const WorkId lease = story.borrow(story.lease());
  EXPECT_EQ(job.text(), "j-1");
  EXPECT_EQ(lease.text(), "l-2");
  EXPECT_EQ(story.submit({story.job()}).at(0).text(), "j-3");
}

TEST_F(LeaseTest, NoJobIsPlacedOnALentHost) {
  const auto [id, on] = granted();
  story.clear();
  (void)story.submit({story.job()});
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty());
  EXPECT_THAT(story.all<CreateCall>(), SizeIs(1)) << "it gets a host of its own";

  story.host(on, model::HostLost{"reset", 0s});
  story.ready(on);
  EXPECT_THAT(story.commands<model::StartAttempt>(), IsEmpty()) << "it is lent still";
  EXPECT_EQ(lease_on(on), id);
}

TEST_F(LeaseTest, AHostWithWorkIsNotLent) {
  (void)story.submit({story.job(1)});
  const InstanceId on = story.all<CreateCall>()[0].instance;
  story.boot(on);
  ASSERT_THAT(story.commands<model::StartAttempt>(), SizeIs(1)) << "half of the host is free";
  story.clear();

  const WorkId id = story.borrow(story.lease());
  ASSERT_THAT(story.all<CreateCall>(), SizeIs(1));
  EXPECT_EQ(story.lease_state(id), "waiting");
  const InstanceId other = story.all<CreateCall>()[0].instance;
  story.boot(other);
  EXPECT_EQ(lease_on(other), id);
  EXPECT_EQ(lease_on(on), std::nullopt);
}

TEST_F(LeaseTest, AnIdleHostIsLentAtOnce) {
  const InstanceId on = idle_host();
  const WorkId id = story.borrow(story.lease());
  EXPECT_EQ(story.lease_state(id), "granted");
  EXPECT_EQ(lease_on(on), id);
  EXPECT_THAT(story.all<CreateCall>(), IsEmpty());
}

TEST_F(LeaseTest, AHostWhoseOutputIsStillToComeIsNotLent) {
  const auto [job, on] = story.running();
  model::AttemptEnd end;
  end.output_is_inline = false;
  end.stdout_bytes = 10'000;
  end.ended = story.now.wall;
  story.host(on, model::AttemptExited{{job, 1}, end});
  story.clear();
  const WorkId id = story.borrow(story.lease());
  EXPECT_EQ(story.lease_state(id), "waiting");

  story.host(on, model::AttemptCollected{{job, 1}, ""});
  EXPECT_EQ(story.lease_state(id), "granted");
  EXPECT_EQ(lease_on(on), id);
}

TEST_F(LeaseTest, ALeaseThatMayWaitForSoLongOnlyEndsThen) {
  auto wish = story.lease();
  wish.lease.wait_max = 10min;
  const WorkId id = story.borrow(wish);
  story.pass(9min);
  EXPECT_EQ(story.lease_state(id), "waiting");
  story.pass(2min);
  EXPECT_EQ(story.lease_state(id), "ended");
  EXPECT_EQ(reason(id), EndReason::kWaitMax);
  EXPECT_FALSE(story.dispatcher.queries().waiting(id));
}

TEST_F(LeaseTest, ASubmitIsRefusedWithWhatThePoolsLend) {
  const auto refusal = [&](SubmitLease wish) {
    wish.principal = "user ann";
    const auto answer = story.ask(wish);
    EXPECT_FALSE(answer);
    return answer ? "" : answer.error().message;
  };
  const auto in_pool = [&](const std::string& pool, Duration term = 1h) {
    auto out = story.lease(term);
    out.work.shape.constraints.pools = {pool};
    return out;
  };
  EXPECT_EQ(refusal(story.lease(9h)), "pool default lends hosts for at most 8 h");
  EXPECT_EQ(refusal(in_pool("default", 9h)), "pool default lends hosts for at most 8 h");
  EXPECT_EQ(refusal(in_pool("lab")), "there is no pool 'lab'; pools that lend hosts: default");
  policy.pools.push_back(policy.pools[0]);
  policy.pools[1].name = "jobs";
  policy.pools[1].leases.reset();
  reload();
  EXPECT_EQ(refusal(in_pool("jobs")),
            "pool jobs does not lend hosts (pools[].leases); pools that lend hosts: default");
  EXPECT_THAT(refusal(story.lease(1h, 64)),
              testing::MatchesRegex("this site can never lend a host .*of 64 vcpus.*"));
  EXPECT_EQ(story.lease_state(story.borrow(in_pool("default"))), "waiting");

  policy.pools[0].leases.reset();
  reload();
  EXPECT_EQ(refusal(story.lease()), "no pool lends hosts (pools[].leases)");
  EXPECT_EQ(refusal(in_pool("default")), "pool default does not lend hosts (pools[].leases)");
}

TEST_F(LeaseTest, AClientKeyMakesOneLease) {
  auto wish = story.lease();
  wish.work.client_key = "k";
  wish.work.client_digest = "d";
  const WorkId id = story.borrow(wish);
  EXPECT_EQ(story.borrow(wish), id);
  EXPECT_NE(story.borrow(wish, "user bob"), id) << "each user has keys of its own";

  wish.work.client_digest = "other";
  wish.principal = "user ann";
  EXPECT_EQ(story.ask(wish).error().code, Errc::kConflict);
  auto job = story.job();
  job.client_key = "k";
  job.client_digest = "d";
  EXPECT_EQ(story.ask(Submit{0, "user ann", {job}}).error().code, Errc::kConflict)
      << "a key names one piece of work, whatever its kind";
}

TEST_F(LeaseTest, AKeyIsKnownThoughThePoolLendsNoMore) {
  auto wish = story.lease();
  wish.work.client_key = "k";
  wish.work.client_digest = "d";
  const WorkId id = story.borrow(wish);
  policy.pools[0].leases.reset();
  reload();
  EXPECT_EQ(story.borrow(wish), id);
}

TEST_F(LeaseTest, OnlyItsHolderOrAnAdminChangesALease) {
  const auto [id, on] = granted();
  EXPECT_EQ(give_back(id, true, "user bob").error().message, "l-1 is not yours");
  EXPECT_EQ(renew(id, 1h, "user bob").error().code, Errc::kForbidden);
  EXPECT_EQ(cancel(id, "user bob").error().code, Errc::kForbidden);
  EXPECT_EQ(story.lease_state(id), "granted");
  EXPECT_TRUE(story.ask(RenewLease{0, "user bob", true, id, 2h}));
  EXPECT_TRUE(story.ask(ReturnLease{0, "user bob", true, id, true}));
}

TEST_F(LeaseTest, ARequestThatComesTooEarlyOrTooLateSaysSo) {
  const WorkId id = story.borrow(story.lease());
  EXPECT_THAT(give_back(id).error().message, HasSubstr("l-1 is not granted yet"));
  EXPECT_EQ(renew(id, 1h).error().code, Errc::kConflict);

  story.boot(story.all<CreateCall>().back().instance);
  EXPECT_EQ(renew(id, 9h).error().message, "pool default lends hosts for at most 8 h");
  EXPECT_TRUE(give_back(id));
  for (const auto& answer : {give_back(id), renew(id, 1h), cancel(id)}) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::kConflict);
    EXPECT_EQ(answer.error().message, "l-1 has ended");
  }
  EXPECT_EQ(give_back({77, model::WorkKind::kLease}).error().code, Errc::kNotFound);
}

TEST_F(LeaseTest, ADryRunSaysWhatTheSubmitWould) {
  const Queries queries = story.dispatcher.queries();
  auto wish = story.lease(9h);
  wish.principal = "user ann";
  EXPECT_FALSE(queries.trial(wish, story.now));
  wish.lease.term = 1h;
  const auto trial = queries.trial(wish, story.now);
  ASSERT_TRUE(trial);
  ASSERT_THAT(trial->jobs, SizeIs(1));
  EXPECT_TRUE(trial->look.snapshot->classes.at(0).shape.exclusive);
  EXPECT_TRUE(story.dispatcher.queries().at_rest());
}

}  // namespace
}  // namespace hostler::dispatch
