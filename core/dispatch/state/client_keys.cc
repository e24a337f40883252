#include "core/dispatch/state/client_keys.h"

#include <algorithm>

namespace hostler::dispatch {

const ClientKeys::Named* ClientKeys::find(const std::string& principal,
                                          const std::string& key) const {
  const auto found = keys_.find({principal, key});
  return found == keys_.end() ? nullptr : &found->second;
}

void ClientKeys::add(std::string principal, std::string key, Named named) {
  const model::WorkId work = named.work;
  const auto [at, fresh] =
      keys_.try_emplace({std::move(principal), std::move(key)}, std::move(named));
  if (fresh) by_work_.emplace_back(work, &*at);
}

void ClientKeys::forget(const std::vector<model::WorkId>& gone) {
  const auto older = [](const auto& entry, model::WorkId work) { return entry.first < work; };
  for (const model::WorkId work : gone) {
    const auto at = std::lower_bound(by_work_.begin(), by_work_.end(), work, older);
    if (at == by_work_.end() || at->first != work || at->second == nullptr) continue;
    keys_.erase(keys_.find(at->second->first));
    at->second = nullptr;
  }
  while (!by_work_.empty() && by_work_.front().second == nullptr) by_work_.pop_front();
}

}  // namespace hostler::dispatch
