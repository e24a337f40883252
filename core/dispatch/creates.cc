#include <algorithm>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// Creates: intended, sent, answered.
namespace hostler::dispatch {

using model::CloudOp;

/// Intent first: the whole request is journalled with its key, the call leaves once that is
/// durable.
void Dispatcher::carry_out(const scheduler::Create& create, Now now) {
  if (create.offering >= offerings_.size()) return;
  const auto& offering = offerings_[create.offering];
  const Set& set = sets_[offering.set];
  if (create.for_class && queue_.at(*create.for_class).count == 0) return;
  if (!set.open || set.foreign) return;
  if (!governor_.refuses_create(offering.set, offering.pool, offering.price_per_hour, now.mono)
           .empty())
    return;
  if (gates_.shut(gate_query(offering), now.mono) != nullptr) return;
  const auto& type = policy_.types[offering.type];
  Host intended = new_host(offering.set, offering.pool, now);
  intended.instance.type = offering.type;
  auto& r = intended.instance.record;
  r.type = type.name;
  r.zone = offering.zone;
  r.market = offering.market;
  r.price_per_hour = offering.price_per_hour;
  r.total = type.resources;
  r.reason = create.reason;
  const auto request = create_request(offering, r);
  intended.create = request;
  intended.load = create.load;
  Host& added = add(std::move(intended));
  count(added);
  const std::string& cheaper = create.passed_over;
  record("scheduler", added.instance.record.id.text(), model::Event::kCreateIntended, type.name,
         create.reason + (cheaper.empty() ? "" : "; cheaper but passed over: " + cheaper), now);
  decided(offering.pool);
  out_.changes.emplace_back(model::InstanceChanged{added.instance.record, request, false});
  send_create(added, now);
}

std::shared_ptr<model::CreateRequest> Dispatcher::create_request(
    const scheduler::Offering& offering, model::InstanceRecord& record) const {
  const Set& set = sets_[offering.set];
  const auto& pool = policy_.pools[offering.pool];
  const auto& type = policy_.types[offering.type];
  auto out = std::make_shared<model::CreateRequest>();
  out->host_instance_id = record.id.text();
  out->owner = owner_;
  out->epoch = epoch_;
  out->type = type;
  out->region = policy_.sets[offering.set].region;
  out->zone = offering.zone;
  out->price_cap_per_hour = pool.price_cap_per_hour;
  out->name_hint = "hostler-" + pool.name + "-" + record.id.text();
  mint_(pool, set.name, set.info, *out, record.identity);
  record.idempotency_key = out->idempotency_key;
  out->tags = policy_.sets[offering.set].tags;
  out->tags[model::tag::kSet] = set.name;
  out->tags[model::tag::kOwner] = owner_;
  out->tags[model::tag::kPool] = pool.name;
  out->tags[model::tag::kEpoch] = std::to_string(epoch_);
  out->tags[model::tag::kKey] = out->idempotency_key;
  out->tags[model::tag::kType] = type.name;
  out->tags[model::tag::kIdle] = "run";
  return out;
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

std::optional<Mono> Dispatcher::rate_bounds(const Host& host, Mono now) const {
  const auto room = [](const scheduler::Headroom& bound) {
    return !bound.creates || *bound.creates > 0;
  };
  if (room(governor_.site(now)) && room(governor_.set(host.instance.set, now)) &&
      room(governor_.pool(host.instance.pool, now)))
    return std::nullopt;
  return governor_.next_create(now);
}

void Dispatcher::on(CreateSeen& event, Now now) {
  Host* found = change(event.instance);
  if (found == nullptr) return;
  const auto& known = found->instance.record;
  if (!known.provider_id.empty() && !is_recorded(known, event.seen)) {
    // Its id has changed, or it was that request, or the cloud has made two of it: a list tells.
    return want_list(found->instance.set, now.mono);
  }
  settle(*found,
         fleet::listed(found->instance, event.seen, now.mono, policy_.pools[found->instance.pool],
                       now),
         "cloud", now);
}

void Dispatcher::on(CreateEnded& event, Now now) {
  Host* found = change(event.instance);
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

}  // namespace hostler::dispatch
