#include "core/dispatch/handlers/new_host.h"

#include "core/fleet/step.h"

namespace hostler::dispatch {

Host new_host(const model::SitePolicy& policy, const Hosts& hosts, const Recorder& recorder,
              std::uint32_t set, std::uint32_t pool, Now now) {
  Host made;
  auto& instance = made.instance;
  instance.set = set;
  instance.pool = pool;
  instance.creating.decided(now.mono);
  instance.since = now.mono;
  instance.listing.ignore_until(now.mono);
  auto& record = instance.record;
  record.id = hosts.next_id();
  record.set = policy.sets[set].name;
  record.pool = policy.pools[pool].name;
  record.epoch = recorder.epoch();
  record.created = record.state_since = now.wall;
  fleet::watch_agent(instance, policy.pools[pool], now);
  return made;
}

bool is_recorded(const model::InstanceRecord& record, const model::ListedInstance& seen) {
  if (record.provider_id.empty()) return false;
  if (seen.id == record.provider_id) return true;
  const bool was_ready = record.ready.us != 0;
  const bool may_be_request = !was_ready || record.request_id == record.provider_id;
  return may_be_request && seen.request_id == record.provider_id;
}

}  // namespace hostler::dispatch
