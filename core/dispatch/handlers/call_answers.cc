#include "core/dispatch/handlers/call_answers.h"

#include <utility>

#include "core/base/text.h"
#include "core/dispatch/handlers/new_host.h"

namespace hostler::dispatch {

using model::CloudOp;

void CallAnswers::on(const CreateSeen& event, Now now) {
  Host* host = hosts_.change(event.instance);
  if (host == nullptr) return;
  auto& instance = host->instance;
  if (!instance.record.provider_id.empty() && !is_recorded(instance.record, event.seen)) {
    // Its id has changed, or it was the spot request's, or the cloud has made two instances of one
    // create: a list tells which.
    const auto& policy = policy_.sets[instance.set];
    return sets_.at(instance.set).want_list(policy, now.mono);
  }
  if (const Host* other = other_of_id(*host, event.seen.id)) {
    // As if it came without a record: lists decide.
    recorder_.record("cloud", host->id().text(), model::Event::kCreateUnknown,
                     model::to_string(model::CloudErrorClass::kMisbehaving),
                     "the create answered with " + printable(event.seen.id, 80) + ", which is " +
                         other->id().text(),
                     now);
    return;
  }
  const auto& pool = policy_.pools[instance.pool];
  steps_.apply(*host, fleet::listed(instance, event.seen, host->calls.create_sent_at(), pool, now),
               "cloud", now);
}

const Host* CallAnswers::other_of_id(const Host& than, const std::string& provider_id) const {
  for (const auto& [id, other] : hosts_.all())
    if (id != than.id() && other.instance.set == than.instance.set &&
        other.instance.record.provider_id == provider_id)
      return &other;
  return nullptr;
}

void CallAnswers::on(const CreateEnded& event, Now now) {
  Host* host = hosts_.change(event.instance);
  if (host == nullptr) return;
  const auto query = host->calls.end_create().value_or(gates_.query(*host, CloudOp::kCreate));
  const model::CloudError* error = event.error ? &*event.error : nullptr;
  gates_.answered(query, error, now);
  steps_.apply(*host,
               error == nullptr ? fleet::create_answered(host->instance, now)
                                : fleet::create_failed(host->instance, *error, now),
               "cloud", now);
  if (error != nullptr) plan_.want();
}

void CallAnswers::on(const DestroyEnded& event, Now now) {
  Host* host = hosts_.change(event.instance);
  if (host == nullptr) return;
  const auto query = host->calls.end_destroy().value_or(gates_.query(*host, CloudOp::kDestroy));
  const model::CloudError* error = event.error ? &*event.error : nullptr;
  gates_.answered(query, error, now);
  const auto& pool = policy_.pools[host->instance.pool];
  steps_.apply(*host, fleet::destroy_answered(host->instance, error, pool, now), "cloud", now);
}

void CallAnswers::on(const TagsEnded& event, Now now) {
  Host* host = hosts_.change(event.instance);
  if (host != nullptr) tags_.ended(*host, event.error ? &*event.error : nullptr, now);
}

void CallAnswers::on(const PowerEnded& event, Now now) {
  Host* host = hosts_.change(event.instance);
  if (host == nullptr || !host->calls.switches()) return;
  const auto query = *host->calls.end_power();
  const model::CloudError* error = event.error ? &*event.error : nullptr;
  gates_.answered(query, error, now);
  if (error != nullptr && query.op == CloudOp::kStop && fleet::is_final(*error))
    refuse_stop(*host, *error, now);
  auto& instance = host->instance;
  steps_.apply(*host,
               query.op == CloudOp::kStart
                   ? fleet::start_answered(instance, error, now)
                   : fleet::stop_answered(instance, error, policy_.pools[instance.pool], now),
               "cloud", now);
  plan_.want();
}

/// Others of its type would only be created, found out and destroyed, over and over.
void CallAnswers::refuse_stop(const Host& host, const model::CloudError& error, Now now) {
  const auto& record = host.instance.record;
  if (!menu_.refuse_stop(host.instance.set, record.type)) return;
  hosts_.touch_all();
  recorder_.record("cloud", "set " + record.set, model::Event::kCannotStop, record.type,
                   error.message, now);
}

}  // namespace hostler::dispatch
