#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/driver_host/wire/frame.h"
#include "core/plugin_host/connection.h"

namespace hostler::driver_host {

/// Sends the request of a call to the process of the driver.
class Sender {
 public:
  /// `body`: the request. Returns PENDING: the end comes from the process.
  virtual hostler_status send(FrameType function, std::string body, hostler_op* op) = 0;

 protected:
  ~Sender() = default;
};

/// A connection whose driver is in a process of its own: the functions of its table send the
/// request there. So a call is the same here and in this process, with the same checks of what the
/// driver does. Threads: any.
class RemoteConnection final : public plugin_host::Connection {
 public:
  /// `sender` must outlive it. `path`: of the driver's library.
  RemoteConnection(const std::string& driver, const std::string& path, Sender& sender);

  hostler_status open(const hostler_set_config& config, hostler_op* op) override;
  [[nodiscard]] bool always_may_pend() const override { return true; }
  void set_extensions(const std::vector<std::string>& ids);

 private:
  [[nodiscard]] const void* find_extension(const char* id) const override;

  Sender& sender_;
  mutable Mutex mutex_;
  std::set<std::string, std::less<>> extensions_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::driver_host
