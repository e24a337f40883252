#include "core/dispatch/state/ended_instances.h"

#include <utility>

namespace hostler::dispatch {

void EndedInstances::add(const model::InstanceRecord& record, Mono now) {
  if (record.provider_id.empty()) return;
  while (!entries_.empty() &&
         (entries_.size() >= kMax || entries_.front().since + kRemembered <= now))
    forget_oldest();
  Key key{record.set, record.provider_id, record.idempotency_key};
  ids_[key] = record.id;
  entries_.push_back({now, std::move(key), record.id});
}

void EndedInstances::forget_oldest() {
  const Entry& oldest = entries_.front();
  // It may have been listed, destroyed and added again since then, under a later id.
  const auto found = ids_.find(oldest.key);
  if (found != ids_.end() && found->second == oldest.id) ids_.erase(found);
  entries_.pop_front();
}

std::optional<model::InstanceId> EndedInstances::find(const std::string& set,
                                                      const model::ListedInstance& seen) const {
  const auto found = ids_.find({set, seen.id, seen.idempotency_key});
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

}  // namespace hostler::dispatch
