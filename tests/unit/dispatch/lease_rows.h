#pragma once

#include "tests/unit/dispatch/leases.h"
#include "tests/unit/dispatch/restored.h"

/// Rows of a lease that a restart finds.
namespace hostler::dispatch {

inline constexpr WorkId kLease{3, model::WorkKind::kLease};
inline constexpr InstanceId kHost{7};

/// The rows of l-3 in this state, and of its host h-7. A granted one has a term of 2 h that began
/// half an hour ago.
inline model::Restored lease_rows(WorkState state, Wall now) {
  model::Restored out;
  out.last_work = out.last_arrival = 5;
  out.last_instance = 7;
  out.instances = {instance(InstanceState::kBusy)};
  model::WorkItem item;
  item.record.id = kLease;
  item.record.state = state;
  item.arrival = 3;
  item.shape.needs = {.vcpus = 1, .gpus = 0, .ram = kGiB, .scratch = 0};
  item.shape.exclusive = true;
  item.shape.constraints.pools = {"default"};
  item.principal = "user ann";
  item.submitted = now + -31min;
  if (state != WorkState::kQueued && state != WorkState::kHeld) item.record.instance = kHost;
  if (state == WorkState::kRunning) item.record.started = now + -30min;
  out.work = {item};
  model::LeaseRecord terms;
  terms.id = kLease;
  terms.term = 2h;
  if (state == WorkState::kRunning) terms.until = now + 90min;
  out.leases = {terms};
  return out;
}

/// Its host is proved, and its agent answers.
inline void prove_host(Story& story) {
  story.host(kHost, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
  story.ready(kHost);
}

/// The answer of h-7 to the question which accounts of leases it has.
inline void has_accounts(Story& story, const std::string& names) {
  const auto asked = story.commands<model::RunCommand>();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].command.purpose, "find accounts");
  model::CommandEnded end;
  end.number = asked[0].number;
  end.status = 0;
  end.output = names;
  story.host(kHost, end);
}

}  // namespace hostler::dispatch
