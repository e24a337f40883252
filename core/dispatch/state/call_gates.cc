#include "core/dispatch/state/call_gates.h"

#include <utility>

#include "core/base/units.h"
#include "core/pricing/doubt.h"

namespace hostler::dispatch {

void CallGates::answered(const gates::GateQuery& call, const model::CloudError* error, Now now) {
  ended(call, error, now);
  if (error == nullptr) return opened("cloud", gates_.succeeded(call), "a call passed", now);
  journal_shut(gates_.refuse(call, *error, now, random_), *error, now);
}

void CallGates::side_call_answered(const gates::GateQuery& call, const model::CloudError* error,
                                   Now now) {
  if (error == nullptr || error->cls == model::CloudErrorClass::kRateLimit)
    return answered(call, error, now);
  model::CloudError of_it = *error;
  of_it.scope |= model::scope::kOperation;
  answered(call, &of_it, now);
}

void CallGates::refused(const gates::GateQuery& call, const model::CloudError& error, Now now,
                        gates::Told told) {
  journal_shut(gates_.close(call, error, now, random_, told), error, now);
}

void CallGates::journal_shut(std::optional<model::GateRecord> shut, const model::CloudError& error,
                             Now now) {
  if (!shut) return;
  recorder_.record("cloud", "gate " + shut->key, model::Event::kGateShut,
                   model::to_string(error.cls), error.message, now);
  recorder_.change(model::GateChanged{std::move(*shut)});
  plan_.want();
}

void CallGates::destroyed(const std::string& set, const std::string& group, const std::string& why,
                          Now now) {
  opened("scheduler", gates_.destroyed(set, group), why, now);
}

void CallGates::restarted(Now now) {
  opened("restart", gates_.restarted(), "the configuration was read again", now);
}

void CallGates::reloaded(Now now) {
  opened("admin", gates_.reloaded(), "the configuration was read again", now);
}

void CallGates::driver_replaced(const std::string& set, Now now) {
  opened("admin", gates_.driver_replaced(set), "the set has new settings or a new driver", now);
}

std::optional<model::GateRecord> CallGates::open(const std::string& key, const std::string& why,
                                                 Now now) {
  auto gate = gates_.open(key);
  if (gate) opened("user", {gate->key}, why, now);
  return gate;
}

void CallGates::price_doubted(const gates::GateQuery& create, model::Micros price,
                              model::Micros configured, Now now) {
  model::CloudError error;
  error.cls = model::CloudErrorClass::kPrice;
  error.scope =
      model::scope::kType | model::scope::kZone | model::scope::kMarket | model::scope::kOperation;
  error.message = "the cloud asks " + format_money(price.value) + " an hour for type " +
                  create.type + ", more than " + std::to_string(pricing::kDoubtedFactor) +
                  " times the configured " + format_money(configured.value) +
                  ": none is created until an admin opens this gate (hostler gates open), or "
                  "corrects the configured price";
  refused(create, error, now);
}

void CallGates::open_prices(const std::function<bool(const model::GateRecord&)>& which, Now now) {
  opened("admin", gates_.open_prices(which), "the configured price has changed", now);
}

void CallGates::boot_failed(const gates::GateQuery& boot, std::vector<model::GateRecord> shut,
                            const std::string& text, Now now) {
  for (auto& gate : gates_.boot_failed(boot, std::move(shut), text, now, random_)) {
    recorder_.record("scheduler", "gate " + gate.key, model::Event::kGateShut,
                     model::to_string(gate.cls), gate.message, now);
    recorder_.change(model::GateChanged{std::move(gate)});
  }
  plan_.want();
}

void CallGates::booted(const gates::GateQuery& boot, const std::string& why, Now now) {
  opened("scheduler", gates_.booted(boot), why, now);
}

void CallGates::boot_unknown(const gates::GateQuery& boot, Now now) {
  gates_.boot_unknown(boot, now);
  plan_.want();
}

void CallGates::tell_of_boots(const std::string& id, const std::string& more) {
  for (auto& gate : gates_.tell_of_boots(id, more))
    recorder_.change(model::GateChanged{std::move(gate)});
}

void CallGates::open_boots(const std::function<bool(const model::GateRecord&)>& which,
                           const std::string& why, Now now) {
  opened("admin", gates_.open_boots(which), why, now);
}

void CallGates::opened(const char* actor, std::vector<std::string> keys, const std::string& why,
                       Now now) {
  for (auto& key : keys) {
    recorder_.record(actor, "gate " + key, model::Event::kGateOpened, "", why, now);
    recorder_.change(model::GateOpened{std::move(key)});
    plan_.want();
  }
}

gates::GateQuery CallGates::create_query(const scheduler::Offering& offering) const {
  const auto& type = policy_.types[offering.type];
  const auto& set = policy_.sets[offering.set];
  const auto& pool = policy_.pools[offering.pool];
  return {.set = set.name,
          .op = model::CloudOp::kCreate,
          .type = type.name,
          .group = sets_.quota_group(offering.set, type),
          .zone = offering.zone,
          .subnet = offering.subnet,
          .region = set.region,
          .market = offering.market,
          .pool = pool.name,
          .image = images_.id_for(offering.set, offering.pool, offering.type)};
}

gates::GateQuery CallGates::query(const Host& host, model::CloudOp op) const {
  const auto& record = host.instance.record;
  gates::GateQuery query;
  query.set = record.set;
  query.op = op;
  query.type = record.type;
  query.zone = record.zone;
  query.market = record.market;
  query.region = policy_.sets[host.instance.set].region;
  query.pool = record.pool;
  query.instance = record.id;
  if (host.instance.type) {
    const auto& type = policy_.types[*host.instance.type];
    query.group = sets_.quota_group(host.instance.set, type);
    query.image = images_.id_for(host.instance.set, host.instance.pool, *host.instance.type);
  }
  // The policy or the newest image may have changed.
  if (!host.image.empty()) query.image = host.image;
  if (host.create) query.subnet = host.create->subnet;
  return query;
}

gates::GateQuery CallGates::tags_query(const Host& host) {
  const auto& record = host.instance.record;
  gates::GateQuery query;
  query.set = record.set;
  query.op = model::CloudOp::kSetTags;
  query.instance = record.id;
  return query;
}

}  // namespace hostler::dispatch
