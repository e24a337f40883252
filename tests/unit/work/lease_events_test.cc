#include "core/work/lease.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/work/leases.h"

/// Events that come in a state of a lease that they are not for.
namespace hostler::work {
namespace {

using namespace std::chrono_literals;

const Now kLate = at(1h);

struct NamedEvent {
  std::string name;
  std::vector<std::string> changes;  ///< The states that it changes.
  std::function<LeaseOutcome(Lease&)> apply;
};

std::vector<NamedEvent> all_late_events() {
  return {
      {"granted", {"granting"}, [](Lease& l) { return granted(l, kLate); }},
      {"refused", {"granting"}, [](Lease& l) { return refused(l, "why", kLate); }},
      {"renewed", {"granted"}, [](Lease& l) { return renewed(l, 1h, kLate); }},
      {"returned",
       {"granting", "granted"},
       [](Lease& l) { return returned(l, /*used=*/true, /*cleans=*/true, kLate); }},
      {"returned unused",
       {"granting", "granted"},
       [](Lease& l) { return returned(l, /*used=*/false, /*cleans=*/true, kLate); }},
      {"cancel",
       {"waiting", "held", "granting", "granted"},
       [](Lease& l) { return cancel(l, "user ann", /*cleans=*/true, kLate); }},
      {"cleaned", {"ending"}, [](Lease& l) { return cleaned(l, "", kLate); }},
      {"not cleaned", {"ending"}, [](Lease& l) { return cleaned(l, "problem", kLate); }},
      {"due",
       {"waiting", "granting", "granted"},
       [](Lease& l) { return due(l, /*cleans=*/true, kLate); }},
      {"host ends",
       {"granting", "granted"},
       [](Lease& l) { return host_ends(l, "why", /*was_announced=*/false); }},
      {"host gone",
       {"granting", "granted", "ending"},
       [](Lease& l) { return host_gone(l, "why", /*was_announced=*/false, kLate); }},
      {"release", {"held"}, [](Lease& l) { return release(l, "root"); }},
  };
}

TEST(LeaseEventsTest, EachEventInAStateThatTheTableDoesNotNameChangesNothing) {
  for (const Lease& before : {waiting_lease(), granting_lease(), granted_lease(), ending_lease(),
                              held_lease(), ended_lease()}) {
    const std::string state = model::lease_state(before.state());
    for (const auto& event : all_late_events()) {
      SCOPED_TRACE(event.name + " while " + state);
      Lease lease = before;

      const auto out = event.apply(lease);

      const bool changes = std::ranges::find(event.changes, state) != event.changes.end();
      EXPECT_EQ(out.work.changed, changes);
      EXPECT_EQ(out.work.event.has_value(), changes);
      if (changes) continue;
      EXPECT_EQ(out.work.next, Next::kNothing);
      EXPECT_EQ(out.host, HostAfter::kKept);
      EXPECT_FALSE(out.terms_changed);
      EXPECT_EQ(lease.record, before.record);
      EXPECT_EQ(lease.terms, before.terms);
      EXPECT_EQ(lease.due, before.due);
      EXPECT_EQ(lease.queued, before.queued);
    }
  }
}

}  // namespace
}  // namespace hostler::work
