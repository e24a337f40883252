#include <utility>

#include "core/dispatch/dispatcher.h"

/// Calls that were refused, and what that holds back.
namespace hostler::dispatch {

void Dispatcher::refused(const scheduler::GateQuery& query, const model::CloudError& error,
                         Now now) {
  auto shut = gates_.refuse(query, error, now, random_);
  if (!shut) return;
  record("cloud", "gate " + shut->key, model::Event::kGateShut, model::to_string(error.cls),
         error.message, now);
  out_.changes.emplace_back(model::GateChanged{std::move(*shut)});
  plan_soon();
}

void Dispatcher::passed(const scheduler::GateQuery& query, Now now) {
  opened("cloud", gates_.succeeded(query), "a call passed", now);
}

void Dispatcher::opened(const char* actor, std::vector<std::string> gates, const std::string& why,
                        Now now) {
  for (auto& key : gates) {
    record(actor, "gate " + key, model::Event::kGateOpened, "", why, now);
    out_.changes.emplace_back(model::GateOpened{std::move(key)});
    plan_soon();
  }
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

scheduler::GateQuery Dispatcher::gate_query(const Host& host, model::CloudOp op) const {
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

}  // namespace hostler::dispatch
