#include <algorithm>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// What clouds say, and the calls to them.
namespace hostler::dispatch {

using model::CloudOp;
using model::InstanceState;

std::optional<std::uint32_t> Dispatcher::set_index(const std::string& name) const {
  for (std::uint32_t i = 0; i < sets_.size(); ++i)
    if (sets_[i].name == name) return i;
  return std::nullopt;
}

std::string Dispatcher::known_by(const std::string& set, const std::string& key,
                                 const std::string& provider_id) {
  return key.empty() ? "/" + set + "/" + provider_id : key;
}

std::optional<model::InstanceId> Dispatcher::known_as(const std::string& set,
                                                      const model::ListedInstance& seen) const {
  // One that is known by its id may carry another's key.
  for (const auto& id : {seen.id, seen.request_id})
    if (const auto known = by_key_.find(known_by(set, "", id));
        !id.empty() && known != by_key_.end())
      return known->second;
  const auto known = by_key_.find(known_by(set, seen.idempotency_key, seen.id));
  if (known != by_key_.end()) return known->second;
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

std::optional<std::uint32_t> Dispatcher::type_index(const std::string& name) const {
  for (std::uint32_t i = 0; i < policy_.types.size(); ++i)
    if (policy_.types[i].name == name) return i;
  return std::nullopt;
}

scheduler::GateQuery Dispatcher::gate_query(const scheduler::Offering& offering) const {
  const auto& type = policy_.types[offering.type];
  return {.set = sets_[offering.set].name,
          .op = model::CloudOp::kCreate,
          .type = type.name,
          .group = type.quota_group,
          .zone = offering.zone,
          .subnet = "",
          .region = policy_.sets[offering.set].region,
          .market = offering.market};
}

scheduler::GateQuery Dispatcher::gate_query(const Host& host, CloudOp op) const {
  const auto& record = host.instance.record;
  scheduler::GateQuery query;
  query.set = record.set;
  query.op = op;
  query.type = record.type;
  query.zone = record.zone;
  query.market = record.market;
  query.region = policy_.sets[host.instance.set].region;
  if (host.instance.type) query.group = policy_.types[*host.instance.type].quota_group;
  return query;
}

void Dispatcher::refused(const scheduler::GateQuery& query, const model::CloudError& error,
                         Now now) {
  auto shut = gates_.refuse(query, error, now, random_);
  if (!shut) return;
  record("cloud", "gate " + shut->key, "gate_shut", model::to_string(error.cls), error.message,
         now);
  out_.changes.emplace_back(model::GateChanged{std::move(*shut)});
  plan_soon();
}

void Dispatcher::passed(const scheduler::GateQuery& query, Now now) {
  opened("cloud", gates_.succeeded(query), "a call passed", now);
}

void Dispatcher::opened(const char* actor, std::vector<std::string> gates, const std::string& why,
                        Now now) {
  for (auto& key : gates) {
    record(actor, "gate " + key, "gate_opened", "", why, now);
    out_.changes.emplace_back(model::GateOpened{std::move(key)});
    plan_soon();
  }
}

void Dispatcher::want_list(std::uint32_t index, Mono at) {
  sets_[index].list_at = std::min(sets_[index].list_at, at);
}

void Dispatcher::on(SetOpened& event, Now now) {
  const auto index = set_index(event.set);
  if (!index) return;
  Set& set = sets_[*index];
  set.opening = false;
  const scheduler::GateQuery query{.set = set.name, .op = CloudOp::kOpen};
  if (!event.result) {
    const auto& error = event.result.error();
    ++set.failures;
    set.problem = error.message;
    set.open_at =
        now.mono + fleet::backoff(set.failures, std::chrono::seconds(1), std::chrono::minutes(1));
    record("cloud", "set " + set.name, "open_failed", model::to_string(error.cls), error.message,
           now);
    return;
  }
  set.open = true;
  set.failures = 0;
  set.problem.clear();
  set.info = std::move(*event.result);
  set.list_at = now.mono;
  set.prices_at = set.info.has_price_history ? now.mono : fleet::kNever;
  record("cloud", "set " + set.name, "opened", "", "account " + set.info.account_id, now);
  plan_soon();
}

std::optional<Mono> Dispatcher::rate_bounds(const Host& host, Mono now) const {
  const auto room = [](const scheduler::Headroom& bound) {
    return !bound.creates || *bound.creates > 0;
  };
  if (room(governor_.site(now)) && room(governor_.set(host.instance.set, now)) &&
      room(governor_.pool(host.instance.pool, now)))
    return std::nullopt;
  return governor_.next_create(now);
}

void Dispatcher::send_create(Host& host, Now now) {
  const Set& set = sets_[host.instance.set];
  if (host.create_under_way || !host.create) return;
  const auto query = gate_query(host, CloudOp::kCreate);
  const auto* gate = gates_.shut(query, now.mono);
  const auto bound = rate_bounds(host, now.mono);
  if (!set.open || gate != nullptr || bound) {
    // The intent stands; it is looked at again when what bounds it ends. One that may have been
    // made keeps the deadline by which it is given up: every list that lacks it leads here again.
    if (host.instance.create_outcome_unknown && host.instance.deadline != fleet::kNever) return;
    host.instance.deadline = std::max({gate != nullptr ? gate->until : Mono{},
                                       bound.value_or(Mono{}), now.mono + std::chrono::seconds(1)});
    schedule(host);
    return;
  }
  gates_.passing(query, now.mono);
  governor_.create_sent(host.instance.set, host.instance.pool, now.mono);
  host.create_under_way = query;
  host.instance.known_at = now.mono;
  out_.effects.emplace_back(CreateCall{set.name, host.instance.record.id, host.create,
                                       policy_.sets[host.instance.set].create_timeout});
}

void Dispatcher::send_destroy(Host& host, Now now) {
  auto& instance = host.instance;
  if (host.destroy_under_way) return;
  const auto query = gate_query(host, CloudOp::kDestroy);
  const auto* gate = gates_.shut(query, now.mono);
  if (instance.record.provider_id.empty() || gate != nullptr || !sets_[instance.set].open) {
    instance.deadline =
        std::max(gate != nullptr ? gate->until : Mono{}, now.mono + std::chrono::seconds(1));
    schedule(host);
    return;
  }
  gates_.passing(query, now.mono);
  host.destroy_under_way = query;
  model::DestroyRequest request;
  request.id = instance.record.provider_id;
  request.expected_set_id = instance.record.set;
  request.idempotency_key = instance.record.idempotency_key;
  request.reason = instance.record.reason_code;
  out_.effects.emplace_back(DestroyCall{instance.record.set, instance.record.id, std::move(request),
                                        policy_.sets[instance.set].destroy_timeout});
}

void Dispatcher::on(CreateSeen& event, Now now) {
  Host* found = host(event.instance);
  if (found == nullptr) return;
  if (!found->instance.record.provider_id.empty() &&
      !is_recorded(found->instance.record, event.seen)) {
    // Its id has changed, or the cloud has made two of it: a list tells.
    return want_list(found->instance.set, now.mono);
  }
  settle(*found,
         fleet::listed(found->instance, event.seen, now.mono, policy_.pools[found->instance.pool],
                       now),
         "cloud", now);
}

void Dispatcher::on(CreateEnded& event, Now now) {
  Host* found = host(event.instance);
  if (found == nullptr) return;
  const auto query =
      std::exchange(found->create_under_way, {}).value_or(gate_query(*found, CloudOp::kCreate));
  if (!event.error) {
    passed(query, now);
    settle(*found, fleet::create_answered(found->instance, now), "cloud", now);
    return;
  }
  refused(query, *event.error, now);
  settle(*found, fleet::create_failed(found->instance, *event.error, now), "cloud", now);
  plan_soon();
}

void Dispatcher::on(DestroyEnded& event, Now now) {
  Host* found = host(event.instance);
  if (found == nullptr) return;
  const auto query =
      std::exchange(found->destroy_under_way, {}).value_or(gate_query(*found, CloudOp::kDestroy));
  const model::CloudError* error = event.error ? &*event.error : nullptr;
  if (error != nullptr)
    refused(query, *error, now);
  else
    passed(query, now);
  settle(*found,
         fleet::destroy_answered(found->instance, error, policy_.pools[found->instance.pool], now),
         "cloud", now);
}

void Dispatcher::on(TagsEnded& event, Now now) {
  Host* found = host(event.instance);
  if (found == nullptr || !event.error) return;
  // The store wins over tags; a tag that could not be written is said, not retried for ever.
  record("cloud", event.instance.text(), "tags_failed", model::to_string(event.error->cls),
         event.error->message, now);
}

void Dispatcher::on(SetListed& event, Now now) {
  const auto index = set_index(event.set);
  if (!index) return;
  Set& set = sets_[*index];
  set.listing = false;
  const scheduler::GateQuery query{.set = set.name, .op = CloudOp::kList};
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
  want_list(*index,
            now.mono + std::max(policy_.sets[*index].list_interval, set.info.list_interval_min));
  part_doubles(set, *event.result, now);
  std::set<model::InstanceId> seen;
  for (const auto& one : *event.result) {
    if (one.state == model::CloudState::kGone) continue;
    take_listed(set, one, event.sent - set.info.list_consistency, now);
    if (const auto known = known_as(set.name, one)) seen.insert(*known);
  }
  if (set.foreign != was_foreign)
    record("cloud", "set " + set.name, set.foreign ? "foreign_owner" : "foreign_owner_left", "",
           set.problem, now);
  std::vector<model::InstanceId> missing;
  for (const auto& [id, other] : hosts_)
    if (other.instance.set == *index && !seen.contains(id)) missing.push_back(id);
  for (const auto id : missing) {
    Host* lacking = host(id);
    // The answer to a call under way may be later news, and may be what a half-open gate waits for.
    if (lacking == nullptr || lacking->create_under_way || lacking->destroy_under_way ||
        lacking->power_under_way)
      continue;
    settle(*lacking, fleet::absent(lacking->instance, event.sent, set.info.list_consistency, now),
           "cloud", now);
  }
}

void Dispatcher::take_listed(Set& set, const model::ListedInstance& seen, Mono as_of, Now now) {
  if (const auto known = known_as(set.name, seen)) {
    Host* ours = host(*known);
    if (ours == nullptr || ours->instance.record.set != set.name) return;
    settle(*ours,
           fleet::listed(ours->instance, seen, as_of, policy_.pools[ours->instance.pool], now),
           "cloud", now);
    return;
  }
  if (seen.tags_unknown || seen.set_id != set.name) return;
  const bool taken_over =
      std::ranges::find(options_.take_over_sets, set.name) != options_.take_over_sets.end();
  if (seen.owner != owner_ && !taken_over) {
    set.foreign = true;
    set.problem = "instance " + printable(seen.id, 80) +
                  " of this set belongs to another hostler (owner " + printable(seen.owner, 80) +
                  "): nothing is created until hostlerd --take-over-set " + set.name;
    return;
  }
  adopt_stranger(set, seen, as_of, now);
}

/// One of ours that the journal does not know, or one taken over: its secrets are lost, so unless a
/// driver can vouch for it, it gets no work and goes at its boot deadline.
void Dispatcher::adopt_stranger(Set& set, const model::ListedInstance& seen, Mono as_of, Now now) {
  const auto index = *set_index(set.name);
  const auto tag = [&](const char* key) {
    const auto found = seen.tags.find(key);
    return found == seen.tags.end() ? std::string() : found->second;
  };
  std::optional<std::uint32_t> pool;
  for (std::uint32_t i = 0; i < policy_.pools.size(); ++i) {
    const auto& sets = policy_.pools[i].sets;
    if (std::ranges::find(sets, set.name) == sets.end()) continue;
    if (!pool || policy_.pools[i].name == tag(model::tag::kPool)) pool = i;
  }
  if (!pool) return;
  const model::InstanceId id{++last_instance_};
  Host& made = hosts_[id];
  auto& instance = made.instance;
  auto& r = instance.record;
  r.id = id;
  r.set = set.name;
  r.pool = policy_.pools[*pool].name;
  r.type = tag(model::tag::kType);
  r.zone = seen.zone;
  r.market = seen.market;
  r.idempotency_key = seen.idempotency_key;
  r.epoch = epoch_;
  r.created = now.wall;
  if (const auto idle = model::parse_idle_behavior(tag(model::tag::kIdle))) r.idle_behavior = *idle;
  r.state = InstanceState::kUnknown;
  instance.set = index;
  instance.pool = *pool;
  instance.type = type_index(r.type);
  if (instance.type) {
    r.price_per_hour = price_of(index, *instance.type, r.zone, r.market);
    r.total = policy_.types[*instance.type].resources;
  }
  instance.created = instance.since = instance.known_at = now.mono;
  instance.deadline = now.mono + policy_.pools[*pool].boot_timeout;
  by_key_[known_by(set.name, seen.idempotency_key, seen.id)] = id;
  record("cloud", id.text(), "adopted", seen.owner == owner_ ? "not_in_journal" : "taken_over",
         "the cloud lists " + printable(seen.id, 80) + " as this set's", now);
  auto outcome = fleet::listed(instance, seen, as_of, policy_.pools[*pool], now);
  outcome.changed = true;
  settle(made, std::move(outcome), "cloud", now);
}

}  // namespace hostler::dispatch
