#include "core/dispatch/handlers/lease_ends.h"

#include <chrono>
#include <utility>

#include "core/fleet/step.h"
#include "core/fleet/uses.h"

namespace hostler::dispatch {
namespace {

constexpr Duration kCleaningLimit = std::chrono::minutes(10);
constexpr auto kSinceBackup = "its lease is of a backup, and it may have been lent anew since";

}  // namespace

const Host* LeaseEnds::host_of(const work::Lease& lease) const {
  return lease.has_host() ? hosts_.find(lease.record.instance) : nullptr;
}

bool LeaseEnds::cleans(const work::Lease& lease) const {
  const Host* host = host_of(lease);
  if (host == nullptr || !host->instance.link.is_connected()) return false;
  const auto& lends = policy_.pools[host->instance.pool].leases;
  if (lease.has_account()) return true;
  return !lease.record.restored && lends && !lends->clean_command.empty();
}

void LeaseEnds::apply(work::Lease& lease, work::LeaseOutcome outcome, const char* actor, Now now) {
  using work::HostAfter;
  const model::WorkId id = lease.id();
  const HostAfter after = outcome.host;
  const bool was_used = lease.record.started.us != 0 && lease.terms.used;
  const bool may_be_lent_anew = lease.record.restored && !lease.has_account();
  const std::string problem = std::move(outcome.problem);
  Host* host = after == HostAfter::kKept ? nullptr : hosts_.change(lease.record.instance);
  steps_.apply(lease, std::move(outcome), now);
  if (host == nullptr) return;
  if (after == HostAfter::kClean) return clean(*host, id, now);
  if (after == HostAfter::kClose) return (void)accounts_.close(*host, id, now);
  if (may_be_lent_anew) hold(*host, actor, now);
  leave(*host, id, after, was_used, actor, now, problem);
}

void LeaseEnds::hold(Host& host, const char* actor, Now now) {
  instance_steps_.apply(host, fleet::hold(host.instance, kSinceBackup, now), actor, now);
}

void LeaseEnds::leave(Host& host, model::WorkId lease, work::HostAfter after, bool was_used,
                      const char* actor, Now now, const std::string& problem) {
  host.instance.occupancy.remove(lease);
  if (!was_used && fleet::uncount_use(host.instance.record))
    recorder_.change(model::InstanceChanged{host.instance.record, nullptr, false});
  if (after == work::HostAfter::kReady) return attempts_.fill(host, now);
  end(host, lease, actor, now, problem);
}

void LeaseEnds::clean(const Host& host, model::WorkId lease, Now now) {
  const auto& lends = policy_.pools[host.instance.pool].leases;
  model::HostExec command;
  command.purpose = "the host is cleaned after " + lease.text();
  command.arguments = {"sh", "-s"};
  command.input = lends->clean_command;
  command.as_root = true;
  command.limit = kCleaningLimit;
  commands_.run(host.id(), lease, LeaseStep::kClean, command, now);
}

void LeaseEnds::end(Host& host, model::WorkId lease, const char* actor, Now now,
                    const std::string& problem) {
  auto& instance = host.instance;
  instance_steps_.apply(host, fleet::lease_ended(instance, lease, now, problem), actor, now);
  instance_steps_.apply(host, fleet::work_changed(instance, policy_.pools[instance.pool], now),
                        actor, now);
}

}  // namespace hostler::dispatch
