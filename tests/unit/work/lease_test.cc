#include "core/work/lease.h"

#include <gmock/gmock.h>

#include <array>
#include <string>

#include "tests/unit/work/leases.h"

/// The table of docs/states.md, row by row.
namespace hostler::work {
namespace {

using namespace std::chrono_literals;
using model::EndReason;
using model::Event;
using model::WorkState;
using testing::HasSubstr;

const Now kNow = at(1h);

void expect_ended(const Lease& lease, const LeaseOutcome& out, EndReason reason, HostAfter host) {
  EXPECT_EQ(out.work.next, Next::kEnd);
  EXPECT_TRUE(out.work.changed);
  EXPECT_EQ(out.work.event, Event::kEnded);
  EXPECT_EQ(out.work.reason_code, model::to_string(reason));
  EXPECT_EQ(out.host, host);
  EXPECT_STREQ(model::lease_state(lease.state()), "ended");
  EXPECT_EQ(lease.record.reason, reason);
  EXPECT_EQ(lease.record.ended, kNow.wall);
  EXPECT_EQ(lease.due, Mono::max());
  EXPECT_FALSE(lease.queued || lease.has_host());
}

void expect_ending(const Lease& lease, const LeaseOutcome& out, EndReason reason,
                   HostAfter host = HostAfter::kClean) {
  EXPECT_EQ(out.work.next, Next::kNothing);
  EXPECT_TRUE(out.work.changed);
  EXPECT_EQ(out.work.event, Event::kEnding);
  EXPECT_EQ(out.work.reason_code, model::to_string(reason));
  EXPECT_EQ(out.host, host);
  EXPECT_EQ(lease.state(), WorkState::kCollecting);
  EXPECT_EQ(lease.record.reason, reason);
  EXPECT_EQ(lease.record.ended, Wall{}) << "it ends when its host is clean";
  EXPECT_EQ(lease.due, Mono::max());
  EXPECT_TRUE(lease.has_host());
}

void expect_waiting(const Lease& lease, const LeaseOutcome& out, Event event) {
  EXPECT_EQ(out.work.next, Next::kQueueAgain);
  EXPECT_TRUE(out.work.changed);
  EXPECT_EQ(out.work.event, event);
  EXPECT_EQ(lease.state(), WorkState::kQueued);
  EXPECT_EQ(lease.record.instance, model::InstanceId{});
  EXPECT_EQ(lease.due, lease.wait_until);
  EXPECT_TRUE(lease.queued);
  EXPECT_FALSE(lease.has_host());
}

TEST(LeaseTest, APlacedOneIsGranting) {
  Lease lease = waiting_lease();

  const auto out = placed(lease, kLentHost, model::Login::kNone, kNow);

  EXPECT_EQ(out.work.next, Next::kNothing);
  EXPECT_EQ(out.work.event, Event::kGranting);
  EXPECT_EQ(out.work.reason, "on h-7");
  EXPECT_EQ(out.host, HostAfter::kKept);
  EXPECT_FALSE(out.terms_changed);
  EXPECT_STREQ(model::lease_state(lease.state()), "granting");
  EXPECT_EQ(lease.record.instance, kLentHost);
  EXPECT_EQ(lease.record.placed, kNow.wall);
  EXPECT_EQ(lease.record.attempt, 0U) << "a lease has no attempts";
  EXPECT_EQ(lease.due, lease.wait_until) << "it waits for the grant still";
  EXPECT_TRUE(lease.has_host());
  EXPECT_FALSE(lease.queued);
}

TEST(LeaseTest, TheTermBeginsWhenItIsGranted) {
  Lease lease = granting_lease();

  const auto out = granted(lease, kNow);

  EXPECT_EQ(out.work.next, Next::kNothing);
  EXPECT_EQ(out.work.event, Event::kGranted);
  EXPECT_EQ(out.work.reason, "on h-7 for 2h");
  EXPECT_TRUE(out.work.changed && out.terms_changed);
  EXPECT_STREQ(model::lease_state(lease.state()), "granted");
  EXPECT_EQ(lease.record.started, kNow.wall);
  EXPECT_EQ(lease.record.starts, 1U);
  EXPECT_EQ(lease.terms.until, kNow.wall + kTerm);
  EXPECT_EQ(lease.due, kNow.mono + kTerm);
}

TEST(LeaseTest, ARenewalBeginsANewTerm) {
  Lease lease = granted_lease();

  const auto out = renewed(lease, 30min, kNow);

  EXPECT_EQ(out.work.next, Next::kNothing);
  EXPECT_EQ(out.work.event, Event::kRenewed);
  EXPECT_EQ(out.work.reason, "for 30m");
  EXPECT_TRUE(out.work.changed && out.terms_changed);
  EXPECT_EQ(lease.state(), WorkState::kRunning);
  EXPECT_EQ(lease.terms.term, 30min);
  EXPECT_EQ(lease.terms.until, kNow.wall + 30min);
  EXPECT_EQ(lease.due, kNow.mono + 30min);
}

TEST(LeaseTest, AnUnusedHostThatIsReturnedTakesOtherWorkAtOnce) {
  for (Lease lease : {granting_lease(), granted_lease()}) {
    const auto out = returned(lease, /*used=*/false, /*cleans=*/true, kNow);
    expect_ended(lease, out, EndReason::kReturned, HostAfter::kReady);
    EXPECT_EQ(lease.state(), WorkState::kSucceeded);
    EXPECT_FALSE(lease.terms.used);
    EXPECT_TRUE(out.terms_changed);
  }
}

TEST(LeaseTest, AUsedHostThatIsReturnedIsCleanedOrEnded) {
  for (Lease lease : {granting_lease(), granted_lease()}) {
    Lease cleaning = lease;
    expect_ending(cleaning, returned(cleaning, /*used=*/true, /*cleans=*/true, kNow),
                  EndReason::kReturned);
    expect_ended(lease, returned(lease, /*used=*/true, /*cleans=*/false, kNow),
                 EndReason::kReturned, HostAfter::kEnded);
    EXPECT_TRUE(lease.terms.used);
  }
}

TEST(LeaseTest, ItsHostCountsAsUsedWhenItsTermIsOver) {
  Lease cleaning = granted_lease(), lease = granted_lease();
  expect_ending(cleaning, due(cleaning, /*cleans=*/true, kNow), EndReason::kTerm);
  expect_ended(lease, due(lease, /*cleans=*/false, kNow), EndReason::kTerm, HostAfter::kEnded);
  EXPECT_EQ(lease.state(), WorkState::kSucceeded);
}

TEST(LeaseTest, ItsHostCountsAsUsedWhenItIsCancelled) {
  Lease cleaning = granted_lease(), lease = granted_lease();
  expect_ending(cleaning, cancel(cleaning, "user ann", /*cleans=*/true, kNow),
                EndReason::kCancelled);
  expect_ended(lease, cancel(lease, "user ann", /*cleans=*/false, kNow), EndReason::kCancelled,
               HostAfter::kEnded);
  EXPECT_EQ(lease.state(), WorkState::kCancelled);
  EXPECT_EQ(lease.record.reason_text, "by user ann");
  EXPECT_TRUE(lease.record.cancel_requested);
}

TEST(LeaseTest, OneThatIsCancelledBeforeItsGrantHasUsedNoHost) {
  for (Lease lease : {waiting_lease(), held_lease()})
    expect_ended(lease, cancel(lease, "user ann", /*cleans=*/true, kNow), EndReason::kCancelled,
                 HostAfter::kKept);
  Lease lease = granting_lease();
  expect_ended(lease, cancel(lease, "user ann", /*cleans=*/true, kNow), EndReason::kCancelled,
               HostAfter::kReady);
}

TEST(LeaseTest, OneThatHasWaitedTooLongEnds) {
  Lease lease = waiting_lease();

  const auto out = due(lease, /*cleans=*/true, kNow);

  expect_ended(lease, out, EndReason::kWaitMax, HostAfter::kKept);
  EXPECT_EQ(lease.state(), WorkState::kFailed);
  EXPECT_EQ(lease.record.reason_text, "it was not granted within 10m");
}

// Bug: it had a host that never became ready, and held it for ever.
TEST(LeaseTest, OneThatIsGrantingForTooLongEnds) {
  Lease granting = granting_lease(), opening = opening_lease(), away = opening_lease();
  expect_ended(granting, due(granting, /*cleans=*/true, kNow), EndReason::kWaitMax,
               HostAfter::kReady);
  expect_ending(opening, due(opening, /*cleans=*/true, kNow), EndReason::kWaitMax,
                HostAfter::kClose);
  expect_ended(away, due(away, /*cleans=*/false, kNow), EndReason::kWaitMax, HostAfter::kEnded);
}

TEST(LeaseTest, ACleanHostTakesOtherWorkAndTheReasonOfTheEndStays) {
  Lease lease = ending_lease();

  const auto out = cleaned(lease, "", kNow);

  expect_ended(lease, out, EndReason::kReturned, HostAfter::kReady);
  EXPECT_TRUE(lease.terms.used) << "its holder has used it all the same";
}

TEST(LeaseTest, AHostThatWasNotCleanedIsGivenToNobodyElse) {
  Lease lease = ending_lease();

  const auto out = cleaned(lease, "exit status 1", kNow);

  expect_ended(lease, out, EndReason::kReturned, HostAfter::kEnded);
  EXPECT_EQ(lease.record.reason_text, "its host was not cleaned: exit status 1");
  EXPECT_EQ(out.work.reason, lease.record.reason_text);
  EXPECT_EQ(out.problem, "its host was not cleaned: exit status 1");
}

TEST(LeaseTest, OneWhoseHostIsGoneBeforeTheGrantWaitsAgain) {
  Lease lease = granting_lease();

  const auto out = host_gone(lease, "it vanished", /*was_announced=*/true, kNow);

  expect_waiting(lease, out, Event::kQueuedAgain);
  EXPECT_EQ(out.host, HostAfter::kKept);
  EXPECT_EQ(lease.record.reason_text, "its host was lost before it was granted: it vanished");
  EXPECT_EQ(lease.record.starts, 0U);
}

TEST(LeaseTest, OneWhoseHostIsGoneWhileItIsLentEnds) {
  Lease lost = granted_lease(), interrupted = granted_lease();
  expect_ended(lost, host_gone(lost, "it vanished", /*was_announced=*/false, kNow),
               EndReason::kHostLost, HostAfter::kKept);
  expect_ended(interrupted, host_gone(interrupted, "spot", /*was_announced=*/true, kNow),
               EndReason::kInterrupted, HostAfter::kKept);
  EXPECT_EQ(lost.state(), WorkState::kFailed);
  EXPECT_EQ(interrupted.state(), WorkState::kFailed);
  EXPECT_EQ(lost.record.reason_text, "it vanished");
}

TEST(LeaseTest, OneWhoseHostIsBeingDestroyedIsEndingUntilThatIsGone) {
  Lease lost = granted_lease(), interrupted = logged_in_lease(), granting = opening_lease();
  expect_ending(lost, host_ends(lost, "killed", /*was_announced=*/false), EndReason::kHostLost,
                HostAfter::kKept);
  expect_ending(interrupted, host_ends(interrupted, "spot", /*was_announced=*/true),
                EndReason::kInterrupted, HostAfter::kKept);
  expect_waiting(granting, host_ends(granting, "killed", /*was_announced=*/false),
                 Event::kQueuedAgain);
  expect_ended(lost, host_gone(lost, "it is gone", /*was_announced=*/true, kNow),
               EndReason::kHostLost, HostAfter::kKept);
  EXPECT_EQ(lost.record.reason_text, "killed");
}

TEST(LeaseTest, OneWhoseHostIsGoneWhileItIsCleanedKeepsTheReasonOfItsEnd) {
  Lease lease = ending_lease();
  expect_ended(lease, host_gone(lease, "it vanished", /*was_announced=*/true, kNow),
               EndReason::kReturned, HostAfter::kKept);
}

TEST(LeaseTest, OneWhoseHostCannotBeGrantedWaitsAgainAndTheHostIsEnded) {
  Lease lease = granting_lease();

  const auto out = refused(lease, "no account", kNow);

  expect_waiting(lease, out, Event::kQueuedAgain);
  EXPECT_EQ(out.host, HostAfter::kEnded);
  EXPECT_THAT(lease.record.refused_by, testing::ElementsAre("h-7"));
  EXPECT_EQ(lease.record.reason_text, "its host could not be granted: no account");
}

TEST(LeaseTest, ItEndsOnceAsManyDifferentHostsAsItAllowsCouldNotBeGranted) {
  Lease lease = granting_lease();
  lease.start_failures_max = 2;
  (void)refused(lease, "no account", kNow);
  (void)placed(lease, kLentHost, model::Login::kNone, kNow);
  expect_waiting(lease, refused(lease, "no account", kNow), Event::kQueuedAgain);
  (void)placed(lease, model::InstanceId{8}, model::Login::kNone, kNow);

  const auto out = refused(lease, "no account", kNow);

  expect_ended(lease, out, EndReason::kStartFailures, HostAfter::kEnded);
  EXPECT_EQ(lease.state(), WorkState::kFailed);
  EXPECT_THAT(lease.record.reason_text, HasSubstr("2 hosts could not be granted; the last one: "));
}

TEST(LeaseTest, OneOfARestoredStateThatWouldWaitIsHeld) {
  Lease gone = granting_lease(), refused_one = granting_lease();
  gone.record.restored = refused_one.record.restored = true;
  const std::array outs{host_gone(gone, "it vanished", /*was_announced=*/false, kNow),
                        refused(refused_one, "no account", kNow)};

  for (const auto& out : outs) EXPECT_EQ(out.work.event, Event::kHeld);
  EXPECT_EQ(outs[1].host, HostAfter::kEnded);
  for (const Lease* lease : {&gone, &refused_one}) {
    EXPECT_EQ(lease->state(), WorkState::kHeld);
    EXPECT_EQ(lease->due, Mono::max());
    EXPECT_FALSE(lease->queued || lease->has_host());
    EXPECT_THAT(lease->record.reason_text,
                HasSubstr("; it may have been granted after the backup"));
  }
}

TEST(LeaseTest, AReleasedOneWaitsAndIsAsAnyOtherOnceItIsPlaced) {
  Lease lease = held_lease();

  const auto out = release(lease, "root");

  expect_waiting(lease, out, Event::kReleased);
  EXPECT_EQ(out.work.reason, "by root");
  (void)placed(lease, kLentHost, model::Login::kNone, kNow);
  EXPECT_EQ(host_gone(lease, "it vanished", false, kNow).work.event, Event::kQueuedAgain);
}

// ---- with a login
// --------------------------------------------------------------------------------

TEST(LeaseTest, ThatAnAccountIsOpenedIsInTheRowFromThePlacingOn) {
  Lease lease = waiting_lease();
  const auto out = placed(lease, kLentHost, model::Login::kRoot, kNow);
  EXPECT_TRUE(out.terms_changed);
  EXPECT_EQ(lease.terms.login, model::Login::kRoot);
  EXPECT_TRUE(lease.has_account());
}

TEST(LeaseTest, OneThatWaitsAgainHasNoAccount) {
  Lease gone = opening_lease(), refused_one = opening_lease();
  for (const auto& out : {host_gone(gone, "it vanished", /*was_announced=*/false, kNow),
                          refused(refused_one, "no useradd", kNow)})
    EXPECT_TRUE(out.terms_changed);
  EXPECT_FALSE(gone.has_account() || refused_one.has_account());
}

TEST(LeaseTest, AnAccountIsClosedHoweverTheLeaseEnds) {
  for (const Lease& before : {opening_lease(), logged_in_lease()}) {
    Lease used = before, unused = before, cancelled = before;
    expect_ending(used, returned(used, /*used=*/true, /*cleans=*/true, kNow), EndReason::kReturned,
                  HostAfter::kClose);
    expect_ending(unused, returned(unused, /*used=*/false, /*cleans=*/true, kNow),
                  EndReason::kReturned, HostAfter::kClose);
    EXPECT_TRUE(unused.terms.used);
    expect_ending(cancelled, cancel(cancelled, "user ann", /*cleans=*/true, kNow),
                  EndReason::kCancelled, HostAfter::kClose);
    Lease away = before;
    expect_ended(away, cancel(away, "user ann", /*cleans=*/false, kNow), EndReason::kCancelled,
                 HostAfter::kEnded);
  }
}

TEST(LeaseTest, AHostThatHadAnAccountIsGivenToNobodyElseWhateverTheClosingSays) {
  for (const std::string problem : {"", "status 1"}) {
    Lease lease = logged_in_lease();
    (void)returned(lease, /*used=*/false, /*cleans=*/true, kNow);
    expect_ended(lease, cleaned(lease, problem, kNow), EndReason::kReturned, HostAfter::kEnded);
    EXPECT_EQ(lease.record.reason_text,
              problem.empty() ? "unused" : "unused; its account was not closed: status 1");
  }
}

TEST(LeaseTest, AfterTheTermItsProcessesHaveTheGrace) {
  Lease lease = logged_in_lease();
  const auto term = due(lease, /*cleans=*/true, kNow, 30s);
  EXPECT_EQ(term.host, HostAfter::kKept);
  EXPECT_EQ(term.work.event, Event::kEnding);
  EXPECT_EQ(lease.state(), WorkState::kCollecting);
  EXPECT_EQ(lease.due, kNow.mono + 30s);

  Lease away = lease;
  const auto closing = due(lease, /*cleans=*/true, kNow, 30s);
  EXPECT_EQ(closing.host, HostAfter::kClose);
  EXPECT_FALSE(closing.work.changed);
  EXPECT_EQ(lease.due, Mono::max());
  expect_ended(away, due(away, /*cleans=*/false, kNow, 30s), EndReason::kTerm, HostAfter::kEnded);

  Lease at_once = logged_in_lease();
  expect_ending(at_once, due(at_once, /*cleans=*/true, kNow, 0s), EndReason::kTerm,
                HostAfter::kClose);
}

}  // namespace
}  // namespace hostler::work
