#pragma once

#include <memory>
#include <unordered_map>

#include "core/base/mutex.h"

namespace hostler::plugin_host {

class Operation;

/// The operations of this process, by the addresses that a driver has of them: of the hostler_op
/// and of its hostler_error. A driver may hand back any address, so the host uses none that was not
/// found here. Threads: any.
class LiveOperations {
 public:
  /// The one of this process, which is never destroyed: drivers run until the process ends.
  static LiveOperations& get();

  void add(const void* address, std::weak_ptr<Operation> op);
  void remove(const void* address);
  /// The operation lives for as long as the caller keeps it. Null: there is none.
  [[nodiscard]] std::shared_ptr<Operation> find(const void* address) const;

 private:
  mutable Mutex mutex_;
  std::unordered_map<const void*, std::weak_ptr<Operation>> all_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::plugin_host
