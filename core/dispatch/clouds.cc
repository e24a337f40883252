#include <algorithm>
#include <utility>

#include "core/dispatch/dispatcher.h"

/// Sets opened, instances destroyed and tagged.
namespace hostler::dispatch {

void Dispatcher::on(SetOpened& event, Now now) {
  const auto index = set_index(event.set);
  if (!index) return;
  Set& set = sets_[*index];
  set.opening = false;
  if (!event.result) {
    const auto& error = event.result.error();
    ++set.failures;
    set.problem = error.message;
    set.open_at =
        now.mono + fleet::backoff(set.failures, std::chrono::seconds(1), std::chrono::minutes(1));
    record("cloud", "set " + set.name, model::Event::kOpenFailed, model::to_string(error.cls),
           error.message, now);
    return;
  }
  set.open = true;
  set.failures = 0;
  set.problem.clear();
  set.info = std::move(*event.result);
  set.list_at = now.mono;
  set.prices_at = set.info.has_price_history ? now.mono : fleet::kNever;
  record("cloud", "set " + set.name, model::Event::kOpened, "", "account " + set.info.account_id,
         now);
  touch_all();
  plan_soon();
}

void Dispatcher::send_destroy(Host& host, Now now) {
  auto& instance = host.instance;
  if (host.destroy_under_way) return;
  const auto query = gate_query(host, model::CloudOp::kDestroy);
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
  request.reason = to_string(instance.record.reason_code);
  out_.effects.emplace_back(DestroyCall{instance.record.set, instance.record.id, std::move(request),
                                        policy_.sets[instance.set].destroy_timeout});
}

void Dispatcher::on(DestroyEnded& event, Now now) {
  Host* found = change(event.instance);
  if (found == nullptr) return;
  const auto query = std::exchange(found->destroy_under_way, {})
                         .value_or(gate_query(*found, model::CloudOp::kDestroy));
  const model::CloudError* error = event.error ? &*event.error : nullptr;
  if (error != nullptr)
    refused(query, *error, now);
  else
    passed(query, now);
  settle(*found,
         fleet::destroy_answered(found->instance, error, policy_.pools[found->instance.pool], now),
         "cloud", now);
}

void Dispatcher::send_tags(const Host& host) {
  const auto& record = host.instance.record;
  model::SetTagsRequest request{.id = record.provider_id};
  request.set[model::tag::kIdle] = model::to_string(record.idle_behavior);
  if (!request.id.empty())
    out_.effects.emplace_back(TagsCall{record.set, record.id, std::move(request),
                                       policy_.sets[host.instance.set].list_timeout});
}

void Dispatcher::on(TagsEnded& event, Now now) {
  Host* found = change(event.instance);
  if (found == nullptr || !event.error) return;
  // The store wins over tags; a tag that could not be written is said, not retried for ever.
  record("cloud", event.instance.text(), model::Event::kTagsFailed,
         model::to_string(event.error->cls), event.error->message, now);
}

}  // namespace hostler::dispatch
