#include <gtest/gtest.h>

#include "core/base/units.h"
#include "core/work/lease.h"
#include "tests/unit/work/leases.h"

/// When a lease is due: terms and waits over renewals, restarts and clocks that are set.
namespace hostler::work {
namespace {

using namespace std::chrono_literals;
using model::WorkState;

/// As the rows of a lease are read by a daemon whose two clocks say this now.
Lease restarted(const Lease& before, Now now) {
  Lease lease;
  lease.record = before.record;
  lease.terms = before.terms;
  lease.queued = lease.state() == WorkState::kQueued;
  set_due(lease, at({}).wall, now);
  return lease;
}

/// After a restart of the machine the monotonic clock begins anew.
Now after_reboot(Duration wall_since) { return {Mono(5s), at(wall_since).wall}; }

TEST(LeaseTimesTest, ANewOneIsDueWhenItsWaitIsOver) {
  EXPECT_EQ(waiting_lease().due, at(kWaitMax).mono);
}

TEST(LeaseTimesTest, OneWithoutAMostWaitIsNeverDue) {
  Lease lease = waiting_lease();
  lease.terms.wait_max = {};
  set_due(lease, at({}).wall, at(1s));
  EXPECT_EQ(lease.due, Mono::max());
}

TEST(LeaseTimesTest, TheWaitCountsFromTheSubmitWhenItWaitsAgain) {
  Lease lease = waiting_lease();
  (void)placed(lease, kLentHost, model::Login::kNone, at(4min));
  EXPECT_EQ(lease.due, at(kWaitMax).mono) << "while it is granting, too";

  (void)host_gone(lease, "it is gone", /*was_announced=*/false, at(9min));

  EXPECT_EQ(lease.due, at(kWaitMax).mono);
}

// Bug: it was due for ever, as nothing ends it, and the daemon was busy with that alone.
TEST(LeaseTimesTest, OneThatIsHeldIsNotDue) {
  Lease lease = opening_lease();
  lease.record.restored = true;
  lease.due = at(5s).mono;  // Its account would be opened again.

  (void)host_gone(lease, "it is gone", /*was_announced=*/false, at(1s));

  ASSERT_EQ(lease.state(), WorkState::kHeld);
  EXPECT_EQ(lease.due, Mono::max());
}

TEST(LeaseTimesTest, ARestartGoesByTheTimesOfTheRow) {
  EXPECT_EQ(restarted(waiting_lease(), after_reboot(4min)).due, Mono(5s) + 6min);
  EXPECT_EQ(restarted(granted_lease(), after_reboot(30min)).due, Mono(5s) + 90min);
  const Lease granting = restarted(granting_lease(), after_reboot(4min));
  EXPECT_EQ(granting.due, Mono(5s) + 6min);
  EXPECT_EQ(restarted(ending_lease(), after_reboot(4min)).due, Mono::max());
  EXPECT_EQ(restarted(held_lease(), after_reboot(4min)).due, Mono::max());
}

TEST(LeaseTimesTest, OneOfARestoredStateThatIsGrantingHasAllTime) {
  Lease lease = granting_lease();
  lease.record.restored = true;
  EXPECT_EQ(restarted(lease, after_reboot(4min)).due, Mono::max());
}

TEST(LeaseTimesTest, ARestartAfterTheTermOrTheWaitEndsItAtOnce) {
  EXPECT_EQ(restarted(waiting_lease(), after_reboot(11min)).due, Mono(5s));
  EXPECT_EQ(restarted(granted_lease(), after_reboot(1000h)).due, Mono(5s));
}

TEST(LeaseTimesTest, AClockThatWasSetBackGivesAtMostTheWholeTermAnew) {
  EXPECT_EQ(restarted(waiting_lease(), after_reboot(-1000h)).due, Mono(5s) + kWaitMax);
  EXPECT_EQ(restarted(granted_lease(), after_reboot(-1000h)).due, Mono(5s) + kTerm);
}

TEST(LeaseTimesTest, TheTermOfARenewalCountsAfterARestart) {
  Lease lease = granted_lease();
  (void)renewed(lease, 5h, at(1h));
  EXPECT_EQ(restarted(lease, after_reboot(2h)).due, Mono(5s) + 4h);
  (void)renewed(lease, 1min, at(1h));
  EXPECT_EQ(restarted(lease, after_reboot(-1000h)).due, Mono(5s) + 1min);
}

TEST(LeaseTimesTest, WhileItRunsTheWallClockMovesNoTerm) {
  Lease lease = granting_lease();
  const Now set_back{at(1h).mono, at(-1000h).wall};

  (void)granted(lease, set_back);
  EXPECT_EQ(lease.due, at(1h).mono + kTerm);

  const Now further_back{at(2h).mono, at(-2000h).wall};
  (void)due(lease, /*cleans=*/false, further_back);
  EXPECT_EQ(lease.record.ended, lease.record.started) << "no lease ends before it was granted";
}

TEST(LeaseTimesTest, HugeTermsNeverEnd) {
  Lease lease = waiting_lease();
  lease.terms.term = lease.terms.wait_max = Duration::max();
  set_due(lease, at({}).wall, at({}));
  EXPECT_EQ(lease.due, Mono::max());
  (void)placed(lease, kLentHost, model::Login::kNone, at(1s));
  (void)granted(lease, at(1s));
  EXPECT_EQ(lease.due, Mono::max());
  EXPECT_GT(lease.terms.until, at(1s).wall);

  (void)renewed(lease, Duration::max(), {Mono::max() - 1ns, Wall{INT64_MAX}});
  EXPECT_EQ(lease.due, Mono::max());
  EXPECT_EQ(lease.terms.until, Wall{INT64_MAX});
  EXPECT_GT(restarted(lease, after_reboot(1s)).due, Mono(5s) + 24h * 365 * 100);
}

// Bug: the ledger grew by a row with each renewal.
TEST(LeaseTimesTest, OfManyRenewalsTheLedgerHasOneInAWhile) {
  Lease lease = granted_lease();
  ASSERT_EQ(renewed(lease, 30min, at(1h)).work.event, model::Event::kRenewed);
  const Now soon = at(1h + kRenewalsTold - 1s);

  const auto out = renewed(lease, 20min, soon);

  EXPECT_FALSE(out.work.event);
  EXPECT_TRUE(out.terms_changed) << "its row has each";
  EXPECT_EQ(lease.terms.until, soon.wall + 20min);
  EXPECT_EQ(lease.due, soon.mono + 20min);
  EXPECT_EQ(renewed(lease, 20min, at(1h + kRenewalsTold)).work.event, model::Event::kRenewed);
}

// Bug: of a lease that was renewed every minute nothing said until when it was granted.
TEST(LeaseTimesTest, TheLastWordOfOneThatWasRenewedNamesItsLastTerm) {
  Lease lease = granted_lease();
  (void)renewed(lease, 30min, at(1h));
  (void)renewed(lease, 20min, at(1h + 1min));
  Lease cancelled = lease;

  EXPECT_EQ(due(lease, /*cleans=*/false, at(1h + 21min)).work.reason,
            "last renewed for 20m, until " + format_wall(at(1h + 21min).wall));
  (void)cancel(cancelled, "user ann", /*cleans=*/false, at(1h + 2min));
  EXPECT_EQ(cancelled.record.reason_text,
            "by user ann; last renewed for 20m, until " + format_wall(at(1h + 21min).wall));
  Lease other = granted_lease();
  EXPECT_EQ(due(other, /*cleans=*/false, at(kTerm)).work.reason, "") << "it was not renewed";
}

}  // namespace
}  // namespace hostler::work
