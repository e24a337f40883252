#include "core/dispatch/handlers/adoptions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/dispatch/handlers/new_host.h"

namespace hostler::dispatch {

std::optional<std::uint32_t> Adoptions::pool_of(const Set& set,
                                                const model::ListedInstance& seen) const {
  const auto& pools = policy_.pools;
  std::optional<std::uint32_t> pool;
  for (std::uint32_t i = 0; i < pools.size(); ++i) {
    if (std::ranges::find(pools[i].sets, set.name) == pools[i].sets.end()) continue;
    if (!pool || pools[i].name == seen.pool) pool = i;
  }
  return pool;
}

std::optional<model::InstanceId> Adoptions::adopt(std::uint32_t index,
                                                  const model::ListedInstance& seen, Mono as_of,
                                                  Now now) {
  const auto pool = pool_of(sets_.at(index), seen);
  if (!pool) return std::nullopt;
  Host stranger = new_host(policy_, hosts_, recorder_, index, *pool, now);
  auto& instance = stranger.instance;
  auto& record = instance.record;
  record.type = seen.type;
  record.zone = seen.zone;
  record.market = seen.market;
  record.idempotency_key = seen.idempotency_key;
  record.provider_id = seen.id;
  if (const auto idle = model::parse_idle_behavior(seen.idle)) record.idle_behavior = *idle;
  record.state = model::InstanceState::kUnknown;
  const bool is_ours = seen.owner == recorder_.owner();
  record.restored = is_ours && lost_time_.may_have_work(seen.epoch);
  if (record.restored) record.epoch = seen.epoch;
  const auto why = !is_ours          ? model::Reason::kTakenOver
                   : record.restored ? model::Reason::kMadeSince
                                     : model::Reason::kNotInJournal;
  record.reason_code = why;
  instance.type = menu_.type_index(record.type);
  if (instance.type) {
    record.price_per_hour = menu_.price_of(index, *instance.type, record.zone, record.market);
    record.total = instance.occupancy.room_of(policy_.types[*instance.type]);
  }
  instance.deadline = now.mono + policy_.pools[*pool].boot_timeout;
  Host& added = hosts_.add(std::move(stranger));
  const model::InstanceId id = added.id();
  recorder_.record("cloud", id.text(), model::Event::kAdopted, to_string(why),
                   "the cloud lists " + printable(seen.id, 80) + " as this set's", now);
  auto outcome = fleet::listed(added.instance, seen, as_of, policy_.pools[*pool], now);
  outcome.changed = true;
  steps_.apply(added, std::move(outcome), "cloud", now);
  if (const auto was = ended_.find(seen.set_id, seen)) end_again(id, *was, now);
  return id;
}

void Adoptions::end_again(model::InstanceId id, model::InstanceId was, Now now) {
  Host* host = hosts_.change(id);
  if (host == nullptr) return;
  const std::string why = "it was " + was.text() + ", which was destroyed and is listed again";
  steps_.apply(*host, fleet::terminate(host->instance, model::Reason::kListedAfterEnd, why, now),
               "cloud", now);
}

}  // namespace hostler::dispatch
