#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// What clouds list, and which of it is ours.
namespace hostler::dispatch {

namespace {

/// A list is of a whole set, so it is not asked for at each change of one instance. Two fit in the
/// default shutdown_timeout: by then what is not known to be gone is destroyed again, and it takes
/// two to know.
constexpr Duration kPausePerInstance = std::chrono::milliseconds(2);
constexpr Duration kPauseMax = std::chrono::seconds(4);

}  // namespace

void Dispatcher::want_list(std::uint32_t index, Mono at) {
  Set& set = sets_[index];
  const Duration pause = std::max(
      set.info.list_interval_min,
      std::min({policy_.sets[index].list_interval, kPauseMax, kPausePerInstance * set.listed}));
  set.list_at = std::min(set.list_at, std::max(at, set.list_sent + pause));
}

void Dispatcher::send_list(std::uint32_t index, Now now) {
  Set& set = sets_[index];
  const scheduler::GateQuery query{.set = set.name, .op = model::CloudOp::kList};
  if (const auto* gate = gates_.shut(query, now.mono)) {
    set.list_at = std::max(gate->until, now.mono + std::chrono::seconds(1));
    return;
  }
  gates_.passing(query, now.mono);
  set.listing = true;
  set.list_at = fleet::kNever;
  set.list_sent = now.mono;
  model::ListRequest request;
  request.tag_filter[model::tag::kSet] = set.name;
  out_.effects.emplace_back(
      ListCall{set.name, std::move(request), policy_.sets[index].list_timeout});
}

void Dispatcher::on(SetListed& event, Now now) {
  const auto index = set_index(event.set);
  if (!index) return;
  Set& set = sets_[*index];
  set.listing = false;
  const scheduler::GateQuery query{.set = set.name, .op = model::CloudOp::kList};
  if (!event.result) {
    ++set.failures;
    set.problem = event.result.error().message;
    refused(query, event.result.error(), now);
    want_list(*index, now.mono + fleet::backoff(set.failures, std::chrono::seconds(1),
                                                std::chrono::minutes(1)));
    return;
  }
  passed(query, now);
  set.failures = 0;
  set.problem.clear();
  const bool was_foreign = std::exchange(set.foreign, false);
  set.listed = static_cast<std::int64_t>(event.result->size());
  want_list(*index, now.mono + policy_.sets[*index].list_interval);
  auto sightings = recognise(set, *event.result);
  end_duplicates(set, sightings, now);
  std::vector<model::InstanceId> seen;
  seen.reserve(sightings.size());
  for (const auto& one : sightings)
    if (const auto known = take_listed(set, one, event.sent - set.info.list_consistency, now))
      seen.push_back(*known);
  std::ranges::sort(seen);
  if (set.foreign != was_foreign) {
    touch_all();
    plan_soon();
    record("cloud", "set " + set.name,
           set.foreign ? model::Event::kForeignOwner : model::Event::kForeignOwnerLeft, "",
           set.problem, now);
  }
  std::vector<model::InstanceId> missing;
  for (const auto& [id, other] : hosts_)
    if (other.instance.set == *index && !std::ranges::binary_search(seen, id))
      missing.push_back(id);
  for (const auto id : missing) {
    Host* lacking = change(id);
    // The answer to a call under way may be later news, and may be what a half-open gate waits for.
    if (lacking == nullptr || lacking->create_under_way || lacking->destroy_under_way ||
        lacking->power_under_way)
      continue;
    settle(*lacking, fleet::absent(lacking->instance, event.sent, set.info.list_consistency, now),
           "cloud", now);
  }
}

std::vector<Dispatcher::Sighting> Dispatcher::recognise(
    const Set& set, const std::vector<model::ListedInstance>& all) const {
  std::unordered_set<std::string_view> fulfilled;
  for (const auto& one : all)
    if (!one.request_id.empty() && one.request_id != one.id) fulfilled.insert(one.request_id);
  std::vector<Sighting> out;
  out.reserve(all.size());
  for (const auto& one : all)
    if (one.state != model::CloudState::kGone && !fulfilled.contains(one.id))
      out.push_back({&one, known_as(set.name, one)});
  return out;
}

std::optional<model::InstanceId> Dispatcher::take_listed(Set& set, const Sighting& sighting,
                                                         Mono as_of, Now now) {
  const model::ListedInstance& seen = *sighting.seen;
  // A stranger may have become known by another machine of this same list.
  const auto known = sighting.known ? sighting.known : known_as(set.name, seen);
  if (known) {
    Host* ours = change(*known);
    if (ours != nullptr && ours->instance.record.set == set.name)
      settle(*ours,
             fleet::listed(ours->instance, seen, as_of, policy_.pools[ours->instance.pool], now),
             "cloud", now);
    return known;
  }
  if (seen.tags_unknown || seen.set_id != set.name) return std::nullopt;
  const bool taken_over =
      std::ranges::find(options_.take_over_sets, set.name) != options_.take_over_sets.end();
  if (seen.owner != owner_ && !taken_over) {
    set.foreign = true;
    set.problem = "instance " + printable(seen.id, 80) +
                  " of this set belongs to another hostler (owner " + printable(seen.owner, 80) +
                  "): nothing is created until hostlerd --take-over-set " + set.name;
    return std::nullopt;
  }
  return adopt_stranger(set, seen, as_of, now);
}

/// One of ours that the journal does not know, or one taken over: its secrets are lost, so unless a
/// driver can vouch for it, it gets no work and goes at its boot deadline.
std::optional<model::InstanceId> Dispatcher::adopt_stranger(Set& set,
                                                            const model::ListedInstance& seen,
                                                            Mono as_of, Now now) {
  const auto index = *set_index(set.name);
  std::optional<std::uint32_t> pool;
  for (std::uint32_t i = 0; i < policy_.pools.size(); ++i) {
    const auto& sets = policy_.pools[i].sets;
    if (std::ranges::find(sets, set.name) == sets.end()) continue;
    if (!pool || policy_.pools[i].name == seen.pool) pool = i;
  }
  if (!pool) return std::nullopt;
  Host stranger = new_host(index, *pool, now);
  auto& instance = stranger.instance;
  auto& r = instance.record;
  r.type = seen.type;
  r.zone = seen.zone;
  r.market = seen.market;
  r.idempotency_key = seen.idempotency_key;
  r.provider_id = seen.id;
  if (const auto idle = model::parse_idle_behavior(seen.idle)) r.idle_behavior = *idle;
  r.state = model::InstanceState::kUnknown;
  instance.type = type_index(r.type);
  if (instance.type) {
    r.price_per_hour = price_of(index, *instance.type, r.zone, r.market);
    r.total = policy_.types[*instance.type].resources;
  }
  instance.deadline = now.mono + policy_.pools[*pool].boot_timeout;
  Host& added = add(std::move(stranger));
  const model::InstanceId id = added.instance.record.id;
  record("cloud", id.text(), model::Event::kAdopted,
         to_string(seen.owner == owner_ ? model::Reason::kNotInJournal : model::Reason::kTakenOver),
         "the cloud lists " + printable(seen.id, 80) + " as this set's", now);
  auto outcome = fleet::listed(added.instance, seen, as_of, policy_.pools[*pool], now);
  outcome.changed = true;
  settle(added, std::move(outcome), "cloud", now);
  return id;
}

std::optional<model::InstanceId> Dispatcher::known_as(const std::string& set,
                                                      const model::ListedInstance& seen) const {
  // One that is known by its id may carry another's key.
  for (const auto* id : {&seen.id, &seen.request_id})
    if (const auto known = keyless_.find(std::tie(set, *id)); known != keyless_.end())
      return known->second;
  if (const auto known = by_key_.find(seen.idempotency_key); known != by_key_.end())
    return known->second;
  // Without its tags the cloud may not tell its key, and it is there all the same. Rare: no index.
  if (!seen.tags_unknown && !seen.idempotency_key.empty()) return std::nullopt;
  for (const auto& [id, other] : hosts_) {
    const auto& record = other.instance.record;
    if (record.set == set && !record.provider_id.empty() &&
        (record.provider_id == seen.id || record.provider_id == seen.request_id))
      return id;
  }
  return std::nullopt;
}

void Dispatcher::remember(const model::InstanceRecord& record) {
  if (!record.idempotency_key.empty())
    by_key_[record.idempotency_key] = record.id;
  else
    for (const auto* id : {&record.provider_id, &record.request_id})
      if (!id->empty()) keyless_[{record.set, *id}] = record.id;
}

void Dispatcher::forget(const model::InstanceRecord& record) {
  // By now another may be known as what this one was.
  const auto erase_own = [&record](auto& of, const auto& key) {
    const auto found = of.find(key);
    if (found != of.end() && found->second == record.id) of.erase(found);
  };
  if (!record.idempotency_key.empty()) return erase_own(by_key_, record.idempotency_key);
  erase_own(keyless_, std::tie(record.set, record.provider_id));
  // The instance's id comes after its request's.
  erase_own(keyless_, std::tie(record.set, record.request_id));
}

}  // namespace hostler::dispatch
