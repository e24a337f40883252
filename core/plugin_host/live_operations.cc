#include "core/plugin_host/live_operations.h"

#include <utility>

namespace hostler::plugin_host {

LiveOperations& LiveOperations::get() {
  static auto* const all = new LiveOperations;
  return *all;
}

void LiveOperations::add(const void* address, std::weak_ptr<Operation> op) {
  const MutexLock lock(mutex_);
  all_[address] = std::move(op);
}

void LiveOperations::remove(const void* address) {
  const MutexLock lock(mutex_);
  all_.erase(address);
}

std::shared_ptr<Operation> LiveOperations::find(const void* address) const {
  const MutexLock lock(mutex_);
  const auto found = all_.find(address);
  return found == all_.end() ? nullptr : found->second.lock();
}

}  // namespace hostler::plugin_host
