#include <algorithm>
#include <map>

#include "core/dispatch/dispatcher.h"

namespace hostler::dispatch {

std::optional<model::WaitingView> Dispatcher::waiting(model::WorkId job) const {
  auto found = waiting(std::vector{job});
  if (found.empty()) return std::nullopt;
  return std::move(found.begin()->second);
}

std::map<model::WorkId, model::WaitingView> Dispatcher::waiting(
    const std::vector<model::WorkId>& jobs) const {
  std::map<model::WorkId, model::WaitingView> out;
  std::vector<model::WorkId> asked;
  std::vector<scheduler::Queue::Place> places;
  for (const model::WorkId id : jobs) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end() || !found->second.queued || out.contains(id)) continue;
    asked.push_back(id);
    places.push_back({found->second.cls, found->second.arrival});
    const auto told = waiting_.find(found->second.cls);
    auto& view = out[id];
    view.code = told == waiting_.end() ? model::WaitingCode::kPlanning : told->second.code;
    view.reason = told == waiting_.end() ? "the next plan looks at it" : told->second.reason;
  }
  const auto ahead = queue_.ahead(places);
  for (std::size_t i = 0; i < asked.size(); ++i) out[asked[i]].ahead = ahead[i];
  return out;
}

model::RejectedView Dispatcher::rejected_view(const scheduler::Offering& offering,
                                              std::string reason) const {
  return {policy_.types[offering.type].name, offering.zone, model::to_string(offering.market),
          policy_.pools[offering.pool].name, std::move(reason)};
}

std::vector<model::RejectedView> Dispatcher::rejected(model::WorkId id) const {
  std::vector<model::RejectedView> out;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return out;
  const auto list = rejected_.find(found->second.cls);
  if (list == rejected_.end()) return out;
  for (const auto& one : list->second)
    if (one.offering < offerings_.size())
      out.push_back(rejected_view(offerings_[one.offering], one.reason));
  return out;
}

model::InstanceView Dispatcher::instance_view(const Host& host) const {
  model::InstanceView out;
  out.record = host.instance.record;
  if (!host.instance.may_exist()) out.record.price_per_hour = {};
  out.record.identity = {};  // Secrets are for links only.
  out.record.identity.public_key = host.instance.record.identity.public_key;
  out.record.identity.verified_by = host.instance.record.identity.verified_by;
  out.record.identity.rotation = host.instance.record.identity.rotation;
  if (host.instance.type) out.total = policy_.types[*host.instance.type].resources;
  out.used = host.instance.used;
  for (const auto& live : host.attempts) out.attempts.push_back(live.attempt);
  out.key_alarm = host.instance.key_alarm;
  return out;
}

std::vector<model::InstanceView> Dispatcher::instances() const {
  std::vector<model::InstanceView> out;
  out.reserve(hosts_.size());
  for (const auto& [id, host] : hosts_) out.push_back(instance_view(host));
  return out;
}

std::optional<model::InstanceView> Dispatcher::instance(model::InstanceId id) const {
  const Host* found = find(id);
  if (found == nullptr) return std::nullopt;
  return instance_view(*found);
}

std::vector<model::PoolView> Dispatcher::pools() const {
  std::vector<model::PoolView> out;
  for (const auto& pool : policy_.pools) {
    model::PoolView one;
    one.name = pool.name;
    one.min = pool.min;
    one.max = pool.max;
    one.standby = pool.standby;
    one.stopped = pool.stopped;
    out.push_back(std::move(one));
  }
  for (const auto& [id, host] : hosts_) {
    auto& pool = out[host.instance.pool];
    const model::InstanceRecord& record = host.instance.record;
    ++pool.instances[model::to_string(record.state)];
    // As bills have it: what is switched off costs nothing.
    if (record.state != model::InstanceState::kStopped)
      pool.price_per_hour += record.price_per_hour;
  }
  return out;
}

std::vector<model::SetView> Dispatcher::sets() const {
  std::vector<model::SetView> out;
  for (const Set& set : sets_) out.push_back({set.name, set.open, set.foreign, set.problem});
  return out;
}

std::vector<model::GateRecord> Dispatcher::gates(Mono now) const {
  std::vector<model::GateRecord> out;
  for (const auto& [key, gate] : gates_.all())
    if (gate.is_shut(now)) out.push_back(gate.record);
  return out;
}

model::Totals Dispatcher::totals(Mono now) const {
  model::Totals out;
  out.jobs = job_counts_;
  for (const auto& [id, host] : hosts_) {
    ++out.instances[{model::to_string(host.instance.record.state), host.instance.record.type}];
    out.price_per_hour += host.instance.record.price_per_hour;
  }
  for (const auto& order : queue_.order()) {
    const auto told = waiting_.find(order.cls);
    out.waiting[told == waiting_.end() ? model::WaitingCode::kPlanning : told->second.code] +=
        queue_.at(order.cls).count;
    for (const auto& item : queue_.at(order.cls).items) {
      if (!item.work) continue;
      out.oldest_wait = std::max(out.oldest_wait, now - item.since);
      break;
    }
  }
  return out;
}

}  // namespace hostler::dispatch
