#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "core/plugin_host/abi_values.h"
#include "core/plugin_host/driver_library.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {

/// How the calls of one set reach the driver: its table, the driver's set, its extensions. All
/// calls of the set share it. The derived class is for a driver in a process of its own, whose
/// table has functions that send the call there.
///
/// Threads: any.
class Connection {
 public:
  explicit Connection(std::shared_ptr<const DriverLibrary> of) : library(std::move(of)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  [[nodiscard]] const hostler_driver& driver() const { return library->table(); }
  /// Calls set_open, and keeps the set that it gives.
  virtual hostler_status open(const hostler_set_config& config, hostler_op* op);
  /// A copy of the driver's extension table; all zero if the driver has none.
  template <class T>
  [[nodiscard]] T extension(const char* id) const {
    T out{};
    const void* const found = find_extension(id);
    if (found != nullptr && !copy_growable(found, out).empty()) out = T{};
    return out;
  }
  /// Each function may return PENDING, whatever driver.h says of it.
  [[nodiscard]] virtual bool always_may_pend() const { return false; }

  const std::shared_ptr<const DriverLibrary> library;
  std::atomic<hostler_set*> set = nullptr;  ///< Null until set_open has succeeded.
  std::atomic<model::AddressChoice> address = model::AddressChoice::kAny;  ///< Of instances.

 private:
  [[nodiscard]] virtual const void* find_extension(const char* id) const {
    return driver().get_extension(id);
  }
};

}  // namespace hostler::plugin_host
