#include "core/dispatch/state/instance_keys.h"

namespace hostler::dispatch {

void InstanceKeys::add(const model::InstanceRecord& record) {
  if (!record.idempotency_key.empty())
    by_key_[record.idempotency_key] = record.id;
  else
    for (const auto* id : {&record.provider_id, &record.request_id})
      if (!id->empty()) by_cloud_id_[{record.set, *id}] = record.id;
}

void InstanceKeys::remove(const model::InstanceRecord& record) {
  const auto erase_own = [&record](auto& index, const auto& key) {
    const auto found = index.find(key);
    if (found != index.end() && found->second == record.id) index.erase(found);
  };
  if (!record.idempotency_key.empty()) return erase_own(by_key_, record.idempotency_key);
  // A spot request's id is known first, the id of its instance later.
  erase_own(by_cloud_id_, std::tie(record.set, record.provider_id));
  erase_own(by_cloud_id_, std::tie(record.set, record.request_id));
}

std::optional<model::InstanceId> InstanceKeys::find(const std::string& set,
                                                    const model::ListedInstance& seen) const {
  // An instance without a key of its own may carry the key of another one.
  for (const auto* id : {&seen.id, &seen.request_id})
    if (const auto known = by_cloud_id_.find(std::tie(set, *id)); known != by_cloud_id_.end())
      return known->second;
  if (const auto known = by_key_.find(seen.idempotency_key); known != by_key_.end())
    return known->second;
  return std::nullopt;
}

}  // namespace hostler::dispatch
