#include "core/dispatch/state/client_keys.h"

#include <algorithm>

namespace hostler::dispatch {

const ClientKeys::Named* ClientKeys::find(const std::string& principal,
                                          const std::string& key) const {
  const auto found = keys_.find({principal, key});
  return found == keys_.end() ? nullptr : &found->second;
}

void ClientKeys::add(std::string principal, std::string key, Named named) {
  const model::WorkId job = named.work;
  const auto [at, fresh] =
      keys_.try_emplace({std::move(principal), std::move(key)}, std::move(named));
  if (fresh) by_job_.emplace_back(job, &*at);
}

void ClientKeys::forget(const std::vector<model::WorkId>& jobs) {
  const auto older = [](const auto& entry, model::WorkId job) { return entry.first < job; };
  for (const model::WorkId job : jobs) {
    const auto at = std::lower_bound(by_job_.begin(), by_job_.end(), job, older);
    if (at == by_job_.end() || at->first != job || at->second == nullptr) continue;
    keys_.erase(keys_.find(at->second->first));
    at->second = nullptr;
  }
  while (!by_job_.empty() && by_job_.front().second == nullptr) by_job_.pop_front();
}

}  // namespace hostler::dispatch
