#include "core/dispatch/handlers/lease_events.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/base/assert.h"

namespace hostler::dispatch {

using model::WorkState;

namespace {

/// The most leases that end in one turn of the loop: other events wait meanwhile.
constexpr std::size_t kEndsPerTick = 500;
/// When the end of an opening is not known, the account is opened again after this time, or on the
/// next connection.
constexpr Duration kOpenAgain = std::chrono::seconds(5);
constexpr std::uint32_t kOpeningsMax = 3;

/// The pool lends hosts to a lease that was accepted on these terms. Whoever was let in with keys
/// gets an account, unless nothing connects to the hosts any more.
Result<void> check_lends(const model::PoolPolicy& pool, const model::LeaseRecord& terms) {
  if (!terms.ssh_keys.empty() && !model::needs_link(pool.readiness))
    return fail(Errc::kInvalidArgument, "hosts of pool " + pool.name +
                                            " have no connection, so that no key opens an account "
                                            "there");
  return check_term(pool, terms.term);
}

}  // namespace

void LeaseEvents::policy_changed(Now now) {
  unlent_.clear();
  for (const auto id : leases_.ungranted()) choose_pools(*leases_.find(id), now);
  for (const auto id : leases_.placed()) {
    work::Lease& lease = *leases_.find(id);
    if (const Host* host = ends_.host_of(lease)) accounts_.tell(*host, lease, now);
  }
}

void LeaseEvents::end_unlent(Now now) {
  for (const auto id : std::exchange(unlent_, {}))
    if (work::Lease* lease = leases_.find(id); lease != nullptr && lease->record.starts == 0)
      choose_pools(*lease, now);
}

void LeaseEvents::choose_pools(work::Lease& lease, Now now) {
  const auto pools = waiting_.queue().at(lease.cls).shape.constraints.pools;
  std::vector<std::string> left;
  std::string why = "none of its pools is there";
  for (const auto& pool : policy_.pools) {
    if (std::ranges::find(pools, pool.name) == pools.end()) continue;
    if (const auto lends = check_lends(pool, lease.terms))
      left.push_back(pool.name);
    else
      why = lends.error().message;
  }
  if (left.size() == pools.size()) return;
  if (!left.empty()) return leases_.set_pools(lease, std::move(left), now.mono);
  if (lease.has_host() || accounts_.are_rows_doubted()) return (void)unlent_.insert(lease.id());
  if (lease.queued) waiting_.note_cancelled(lease.cls);
  ends_.apply(lease, work::cancel(lease, "the configuration: " + why, /*cleans=*/false, now),
              "admin", now);
}

void LeaseEvents::fire_due(Now now) {
  for (std::size_t n = 0; n < kEndsPerTick; ++n) {
    const auto id = leases_.first_due(now.mono);
    if (!id) return;
    fire(*leases_.find(*id), now);
  }
}

void LeaseEvents::fire(work::Lease& lease, Now now) {
  const Host* host = ends_.host_of(lease);
  if (host != nullptr && lease.notice <= now.mono) return accounts_.tell(*host, lease, now);
  if (host == nullptr ? accounts_.are_rows_doubted() : accounts_.is_suspended(*host))
    return leases_.set_due(lease, now.mono + LeaseAccounts::kSuspended);
  if (lease.state() != WorkState::kStarting || lease.grant_by() <= now.mono) {
    if (lease.queued) waiting_.note_cancelled(lease.cls);
    return end_term(lease, host, now);
  }
  leases_.set_due(lease, lease.grant_by());
  if (host != nullptr) grant_again(lease, *host, now);
}

void LeaseEvents::grant_again(work::Lease& lease, const Host& host, Now now) {
  const auto& pool = policy_.pools[host.instance.pool];
  const bool has_link = model::needs_link(pool.readiness);
  if (has_link && !host.instance.link.is_connected()) return;  // Its next connection goes on.
  if (!lease.has_account()) return grant(lease, now);
  if (has_link) return accounts_.open(host, lease, now);
  const std::string why = "hosts of pool " + pool.name + " have no connection any more";
  refuse(lease, {host.id(), lease.id(), LeaseStep::kOpen, CommandResult::kUnknown, why}, now);
}

void LeaseEvents::end_term(work::Lease& lease, const Host* host, Now now) {
  if (lease.state() == WorkState::kCollecting && !lease.has_account()) {
    // A restart has forgotten its cleaning command, or it ended while its set was stopped.
    const char* problem = "its end is not known";
    return ends_.apply(lease, work::cleaned(lease, problem, now), "timer", now);
  }
  const auto grace = host == nullptr ? Duration{} : accounts_.grace_of(*host);
  ends_.apply(lease, work::due(lease, ends_.cleans(lease), now, grace), "timer", now);
}

void LeaseEvents::end_commands(Now now) {
  for (auto ended = commands_.take_ended(); !ended.empty(); ended = commands_.take_ended())
    for (const auto& one : ended) {
      if (one.step == LeaseStep::kFind) {
        for (const auto lease : takeover_.found(one, now)) accounts_.close_left(one.on, lease, now);
        continue;
      }
      work::Lease* lease = leases_.find(one.lease);
      const bool has_host = lease != nullptr && lease->record.instance == one.on;
      if (has_host)
        command_ended(*lease, one, now);
      else if (one.step == LeaseStep::kOpen)
        accounts_.close_left(one.on, one.lease, now);
    }
}

void LeaseEvents::command_ended(work::Lease& lease, const HostCommands::Ended& one, Now now) {
  if (one.step == LeaseStep::kTell) return accounts_.told(lease, one.result, now);
  if (lease.state() != WorkState::kStarting && lease.state() != WorkState::kCollecting) return;
  const Host* host = ends_.host_of(lease);
  HOSTLER_ASSERT(host != nullptr, "a lease that has a host is ended or waits when that is gone");
  if (accounts_.is_suspended(*host))
    return leases_.set_due(lease, now.mono + LeaseAccounts::kSuspended);
  if (one.step == LeaseStep::kOpen) return opened(lease, *host, one, now);
  if (lease.state() == WorkState::kCollecting)
    ends_.apply(lease, work::cleaned(lease, one.result == CommandResult::kGood ? "" : one.how, now),
                "host", now);
}

void LeaseEvents::opened(work::Lease& lease, const Host& host, const HostCommands::Ended& one,
                         Now now) {
  if (lease.state() == WorkState::kCollecting) {  // It has ended meanwhile.
    if (accounts_.close(host, lease.id(), now)) return;
    return ends_.apply(lease, work::cleaned(lease, one.how, now), "host", now);
  }
  if (one.result == CommandResult::kGood) return grant(lease, now);
  if (one.result == CommandResult::kUnknown && ++lease.opening.unknown < kOpeningsMax)
    return leases_.set_due(lease, std::min(now.mono + kOpenAgain, lease.grant_by()));
  // Nothing waits for the closing. On a host that an admin keeps, no account is left.
  (void)accounts_.close(host, lease.id(), now);
  refuse(lease, one, now);
}

/// After the step the lease does not name its host any more: `opening` does.
void LeaseEvents::refuse(work::Lease& lease, const HostCommands::Ended& opening, Now now) {
  Host* host = hosts_.change(opening.on);
  steps_.apply(lease, work::refused(lease, opening.how, now), now);
  host->instance.occupancy.remove(opening.lease);
  ends_.end(*host, opening.lease, "host", now);
}

void LeaseEvents::grant(work::Lease& lease, Now now) {
  const model::Gang gang = leases_.gang(lease);
  const auto has_no_host = [](const work::Lease* one) { return !one->has_host(); };
  if (gang.count > 0 && std::ranges::any_of(leases_.members(gang), has_no_host))
    return gangs_.note_broken(gang, /*lets_go=*/true);  // A restart forgets that it was broken.
  for (work::Lease* one : steps_.grant(lease, now))
    if (const Host* host = hosts_.find(one->record.instance)) accounts_.tell(*host, *one, now);
}

}  // namespace hostler::dispatch
