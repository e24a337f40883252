#include "core/dispatch/state/questions/leftovers.h"

#include <algorithm>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

std::string tag_of(const model::Leftover& thing, const char* tag) {
  const auto found = thing.tags.find(tag);
  return found == thing.tags.end() ? "" : found->second;
}

bool agree(const Thing& a, const Thing& b) {
  return a.instance_id == b.instance_id && a.key == b.key && a.created == b.created;
}

}  // namespace

std::string to_string(const ThingName& name) {
  return printable(name.type, 60) + " " + printable(name.id, model::kForeignNameMax);
}

std::map<ThingName, Thing> things_of(const std::vector<model::Leftover>& list,
                                     const std::string& owner, std::uint64_t epoch,
                                     const std::string& set, const KnownInstances& known, Now now) {
  std::map<ThingName, Thing> all;
  std::set<ThingName> contradictory;
  for (const auto& seen : list) {
    const ThingName name{seen.type, seen.id};
    Thing thing;
    thing.instance_id = seen.instance_id;
    thing.key = tag_of(seen, model::tag::kKey);
    thing.created = seen.created;
    thing.first = now.mono;
    thing.since = now.wall;
    const std::string its_epoch = tag_of(seen, model::tag::kEpoch);
    const bool is_ours = tag_of(seen, model::tag::kOwner) == owner &&
                         tag_of(seen, model::tag::kSet) == set &&
                         (its_epoch.empty() || parse_u64(its_epoch).value_or(UINT64_MAX) <= epoch);
    const bool is_left = is_ours && !known.has(thing.instance_id, thing.key);
    const auto [other, fresh] = all.try_emplace(name, thing);
    if (!is_left || (!fresh && !agree(other->second, thing))) contradictory.insert(name);
  }
  std::erase_if(all, [&](const auto& entry) { return contradictory.contains(entry.first); });
  return all;
}

KnownInstances known_instances(const std::string& set, const Hosts& hosts,
                               const SetAside& set_aside) {
  KnownInstances out;
  const auto add = [&](const model::InstanceRecord& record) {
    out.keys.insert(record.idempotency_key);
    if (record.set != set) return;
    out.ids.insert(record.provider_id);
    out.ids.insert(record.request_id);
  };
  for (const auto& [id, host] : hosts.all()) add(host.instance.record);
  for (const auto& record : set_aside.instances()) add(record);
  return out;
}

Mono Leftovers::next_wake(const Sets& sets) const {
  Mono next = fleet::kNever;
  for (std::uint32_t i = 0; i < by_set_.size(); ++i) next = std::min(next, next_wake(sets, i));
  return next;
}

Mono Leftovers::next_wake(const Sets& sets, std::uint32_t set) const {
  const bool destroys = policy_.sets[set].leftovers == model::LeftoverRule::kDestroy;
  return destroys && sets.at(set).is_open() ? by_set_[set].look_at : fleet::kNever;
}

}  // namespace hostler::dispatch
