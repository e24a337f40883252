#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "core/fleet/legal.h"
#include "core/fleet/step.h"

namespace hostler::fleet {

using namespace std::chrono_literals;
using model::CloudErrorClass;
using model::CloudState;
using model::Event;
using model::Health;
using model::IdleBehavior;
using model::InstanceState;
using model::Reason;

inline void PrintTo(Effect effect, std::ostream* out) {
  static const char* const kNames[] = {"connect", "disconnect", "create again", "destroy", "list",
                                       "retag",   "stop",       "start",        "gone"};
  *out << kNames[static_cast<std::size_t>(effect)];
}

/// Both clocks, `since` after the tests began.
inline Now at(Duration since) { return {Mono(100h + since), Wall{1'700'000'000'000'000} + since}; }

inline model::PoolPolicy pool() {
  model::PoolPolicy out;
  out.name = "default";
  out.idle_timeout = 1min;
  out.boot_timeout = 10min;
  out.probe_timeout = 5min;
  out.shutdown_timeout = 10s;
  return out;
}

/// Attempts of that many jobs.
inline void place(Instance& instance, std::uint32_t attempts = 1) {
  for (std::uint64_t job = 1; job <= attempts; ++job)
    instance.occupancy.add(
        {.attempt = {{job}, 1}, .boot_id = "boot-1", .sequence = job, .needs = {}});
}

/// All attempts have left.
inline void clear(Instance& instance) { instance.occupancy = {}; }

/// An instance as it is `at(0s)` in a state, having come there in the usual way.
inline Instance instance_in(InstanceState state) {
  Instance out;
  auto& r = out.record;
  r.id = {7};
  r.set = "west";
  r.pool = "default";
  r.type = "small";
  r.state = state;
  r.idempotency_key = "key-7";
  r.created = r.state_since = at(0s).wall;
  r.identity.challenge_secret = "secret";
  r.identity.delivered_private_key = "private";
  out.since = at(0s).mono;
  out.listing.ignore_until(at(0s).mono);
  if (state == InstanceState::kRequested || state == InstanceState::kAbandoned) return out;
  r.provider_id = "i-7";
  r.address = "10.0.0.7";
  if (state == InstanceState::kBooting) {
    out.deadline = at(10min).mono;
    return out;
  }
  r.identity.verified_by = model::VerifyMethod::kChallenge;
  r.identity.public_key = "ssh-ed25519 old";
  r.verified = r.ready = at(0s).wall;
  if (state == InstanceState::kIdle || state == InstanceState::kBusy) {
    r.boot_id = "boot-1";
    out.link.agent_answers(1);
    EXPECT_FALSE(out.link.became_ready());
  }
  if (state == InstanceState::kBusy) place(out);
  if (state == InstanceState::kTerminating) out.ending.set_futile();
  assert_legal(out);
  return out;
}

/// The same, after its connection was lost.
inline Instance cut_off_in(InstanceState state) {
  Instance out = instance_in(state);
  (void)lost(out, {"reset"}, pool(), at(0s));
  return out;
}

inline model::ListedInstance listing(CloudState state = CloudState::kRunning) {
  model::ListedInstance out;
  out.id = "i-7";
  out.idempotency_key = "key-7";
  out.address = "10.0.0.7";
  out.state = state;
  return out;
}

inline model::CloudError error(CloudErrorClass cls, bool outcome_unknown = false) {
  model::CloudError out;
  out.cls = cls;
  out.message = "the cloud says no";
  out.outcome_unknown = outcome_unknown;
  return out;
}

}  // namespace hostler::fleet
