#include "core/dispatch/handlers/duplicates.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/text.h"
#include "core/dispatch/handlers/new_host.h"

namespace hostler::dispatch {
namespace {

/// Also true of a spot request and the instance that has come of it.
bool same_machine(const model::ListedInstance& a, const model::ListedInstance& b) {
  return a.id == b.id || a.request_id == b.id || b.request_id == a.id;
}

}  // namespace

void Duplicates::end(const Set& set, std::vector<Sighting>& all, std::size_t most, Now now) {
  std::unordered_map<model::InstanceId, const Sighting*> kept;
  kept.reserve(all.size());
  std::size_t ended = 0;
  const auto is_ended = [&](const Sighting& one) {
    const auto known = ended == 0 ? one.known : hosts_.find_listed(set.name, *one.seen);
    return known && known != one.known;
  };
  std::unordered_set<const model::ListedInstance*> left;
  for (auto& one : all) {
    if (!one.known) continue;
    const auto [first, fresh] = kept.try_emplace(*one.known, &one);
    if (fresh) continue;
    const Host* ours = hosts_.find(*one.known);
    if (ours == nullptr || ours->instance.record.set != set.name ||
        same_machine(*first->second->seen, *one.seen))
      continue;
    // A machine that was ended just now is listed twice.
    if (is_ended(one)) continue;
    if (ended == most) {
      left.insert(one.seen);
      continue;
    }
    const auto goes_before = [&](const model::ListedInstance& a, const model::ListedInstance& b) {
      const bool a_is = is_recorded(ours->instance.record, a);
      return a_is != is_recorded(ours->instance.record, b) ? a_is : a.id < b.id;
    };
    const Sighting* other = &one;
    if (goes_before(*other->seen, *first->second->seen)) std::swap(other, first->second);
    end_one(*ours, *other->seen, first->second->seen->id, now);
    ++ended;
  }
  if (ended == 0) return;
  std::erase_if(all, [&](const Sighting& one) { return left.contains(one.seen); });
  for (auto& one : all)  // A host whose key is not listed was recognised by its cloud id.
    if (const auto known = hosts_.find_listed(set.name, *one.seen)) one.known = known;
}

void Duplicates::end_one(const Host& of, const model::ListedInstance& seen, const std::string& kept,
                         Now now) {
  const auto& original = of.instance.record;
  Host duplicate = new_host(policy_, hosts_, recorder_, of.instance.set, of.instance.pool, now);
  duplicate.instance.type = of.instance.type;
  auto& r = duplicate.instance.record;
  r.type = original.type;
  r.total = original.total;
  r.jobs_max = original.jobs_max;
  r.market = original.market;
  r.zone = seen.zone;
  r.provider_id = seen.id;
  r.request_id = seen.request_id;
  r.price_per_hour = seen.price_per_hour.value_or(original.price_per_hour);
  r.state = model::InstanceState::kUnknown;
  Host& added = hosts_.add(std::move(duplicate));
  const std::string why = "the cloud made " + printable(kept, 80) + " and " +
                          printable(seen.id, 80) + " of one create, that of " + original.id.text() +
                          ": the first is kept";
  recorder_.record("cloud", added.instance.record.id.text(), model::Event::kDuplicate,
                   original.id.text(), why, now);
  steps_.apply(added, fleet::terminate(added.instance, model::Reason::kDuplicate, why, now),
               "cloud", now);
}

}  // namespace hostler::dispatch
