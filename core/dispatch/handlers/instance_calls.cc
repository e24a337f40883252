#include "core/dispatch/handlers/instance_calls.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/fleet/step.h"

namespace hostler::dispatch {

using model::CloudOp;

namespace {

constexpr Duration kRetryMin = std::chrono::seconds(1);

Mono retry_time(const gates::Gate* gate, Mono now) {
  return std::max(gate != nullptr ? gate->until : Mono{}, now + kRetryMin);
}

}  // namespace

std::optional<model::CloudError> InstanceCalls::gives_up_create(const Host& host, Now now) const {
  const auto& instance = host.instance;
  if (!fleet::awaits_create(instance) || host.calls.creates()) return std::nullopt;
  const auto* gate = gates_.shut(gates_.query(host, CloudOp::kCreate), now.mono);
  if (gate == nullptr || gate->record.cls != model::CloudErrorClass::kPrice) return std::nullopt;
  model::CloudError out;
  out.cls = gate->record.cls;
  out.message = gate->record.message;
  return out;
}

void InstanceCalls::create(Host& host, Now now) {
  if (host.calls.creates() || !host.create) return;
  auto& instance = host.instance;
  const Set& set = sets_.at(instance.set);
  const auto query = gates_.query(host, CloudOp::kCreate);
  const auto* gate = gates_.shut(query, now.mono);
  const auto bound = rate_bound(host, now.mono);
  if (!set.refuses_creates(now.mono).empty() || gate != nullptr || bound) {
    // An instance that may exist already keeps the deadline by which its create is given up: every
    // list that lacks it leads here again.
    if (instance.creating.is_outcome_unknown() && instance.deadline != fleet::kNever) return;
    instance.deadline = std::max(retry_time(gate, now.mono), bound.value_or(Mono{}));
    return hosts_.schedule(host);
  }
  send_create(host, query, now);
}

void InstanceCalls::finish_create(Host& host, Now now) {
  if (host.calls.creates() || !host.create) return;
  const Set& set = sets_.at(host.instance.set);
  const auto query = gates_.query(host, CloudOp::kCreate);
  // A cloud that does not know keys might make a second one.
  if (!set.info.create_token_native || !set.refuses_creates(now.mono).empty()) return;
  if (gates_.shut(query, now.mono) != nullptr || !has_reached_its_turn(host, now.mono)) return;
  send_create(host, query, now);
}

bool InstanceCalls::has_reached_its_turn(Host& host, Mono now) {
  const std::uint32_t set = host.instance.set, pool = host.instance.pool;
  const auto before = host.calls.create_reserved();
  if (before && *before > now) return false;
  if (before) governor_.release_create(set, pool, *before);
  const auto bound = rate_bound(host, now);
  if (bound) governor_.reserve_create(set, pool, *bound);
  host.calls.reserve_create(bound);
  return !bound;
}

void InstanceCalls::send_create(Host& host, const gates::GateQuery& query, Now now) {
  auto& instance = host.instance;
  const Set& set = sets_.at(instance.set);
  gates_.sent(query, now.mono);
  governor_.create_sent(instance.set, instance.pool, now.mono);
  host.calls.create_sent(query, now.mono);
  instance.creating.sent();
  instance.listing.ignore_until(now.mono);
  recorder_.effect(
      CreateCall{set.name, host.id(), host.create, policy_.sets[instance.set].create_timeout});
}

std::optional<Mono> InstanceCalls::rate_bound(const Host& host, Mono now) const {
  const auto has_room = [](const gates::Headroom& headroom) {
    return !headroom.creates || *headroom.creates > 0;
  };
  if (has_room(governor_.site(now)) && has_room(governor_.set(host.instance.set, now)) &&
      has_room(governor_.pool(host.instance.pool, now)))
    return std::nullopt;
  return governor_.next_create(now);
}

void InstanceCalls::destroy(Host& host, Now now) {
  auto& instance = host.instance;
  if (host.calls.destroys()) return;
  const auto query = gates_.query(host, CloudOp::kDestroy);
  const auto* gate = gates_.shut(query, now.mono);
  if (instance.record.provider_id.empty() || gate != nullptr || !sets_.at(instance.set).is_open()) {
    instance.deadline = retry_time(gate, now.mono);
    return hosts_.schedule(host);
  }
  gates_.sent(query, now.mono);
  host.calls.destroy_sent(query);
  model::DestroyRequest request;
  request.id = instance.record.provider_id;
  request.expected_set_id = instance.record.set;
  request.idempotency_key = instance.record.idempotency_key;
  recorder_.effect(DestroyCall{instance.record.set, host.id(), std::move(request),
                               policy_.sets[instance.set].destroy_timeout,
                               instance.record.reason_code});
}

void InstanceCalls::set_tags(Host& host, Now now) {
  const auto& record = host.instance.record;
  if (record.provider_id.empty() || !sets_.at(host.instance.set).is_open()) return;
  const auto query = CallGates::tags_query(host);
  if (gates_.shut(query, now.mono) != nullptr) return;  // TagRepair writes it later.
  gates_.sent(query, now.mono);
  ++host.tags.under_way;
  model::SetTagsRequest request{.id = record.provider_id};
  request.set[model::tag::kIdle] = model::to_string(record.idle_behavior);
  recorder_.effect(TagsCall{record.set, record.id, std::move(request),
                            policy_.sets[host.instance.set].list_timeout});
}

void InstanceCalls::power(Host& host, CloudOp op, Now now) {
  auto& instance = host.instance;
  if (host.calls.switches()) return;
  // A list has shown it off, and another one on. A plan ends it, unless an admin holds it.
  if (const auto& info = sets_.at(instance.set).info; op == CloudOp::kStop && !info.has_power)
    return;
  const auto query = gates_.query(host, op);
  const auto* gate = gates_.shut(query, now.mono);
  if (gate != nullptr || !sets_.at(instance.set).is_open()) {
    if (op == CloudOp::kStop) instance.deadline = retry_time(gate, now.mono);
    return;
  }
  gates_.sent(query, now.mono);
  host.calls.power_sent(query);
  recorder_.effect(
      PowerCall{instance.record.set,
                host.id(),
                op == CloudOp::kStart,
                {.id = instance.record.provider_id, .expected_set_id = instance.record.set},
                policy_.sets[instance.set].power_timeout});
}

}  // namespace hostler::dispatch
