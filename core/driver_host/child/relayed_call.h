#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>

#include "core/base/mutex.h"
#include "core/driver_host/child/outlet.h"
#include "core/driver_host/wire/frame.h"
#include "core/plugin_host/connection.h"
#include "core/plugin_host/operation.h"

namespace hostler::driver_host {

/// One call in the driver's process: reads the request that hostlerd has sent, calls the driver's
/// function with it, and sends the records and the end. The records of a create are on the socket
/// when emit() returns, so that no id of an instance is lost with the process.
class RelayedCall final : public plugin_host::Operation {
 public:
  /// `body`: the call's deadline in nanoseconds of CLOCK_MONOTONIC, then the request. Null if the
  /// type is none of a function.
  static std::shared_ptr<RelayedCall> make(FrameType type, std::uint64_t id, std::string body,
                                           std::shared_ptr<plugin_host::Connection> connection,
                                           Listener& listener, const Outlet& outlet);

  RelayedCall(const Traits& traits, FrameType type, std::uint64_t id, std::string body,
              std::shared_ptr<plugin_host::Connection> connection, Listener& listener,
              const Outlet& outlet);

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] std::string label() const override;
  /// Sends the end. Once, after the call is over.
  void send_end();

 private:
  hostler_status call_driver() override;
  bool take_record(const hostler_rec& record) override;
  void deliver(std::optional<model::CloudError> /*failure*/) override {}

  template <class Request>
  hostler_status call(hostler_status (*function)(hostler_set*, const Request*, hostler_op*));
  template <class Table, class Request>
  hostler_status call_extension(const char* id,
                                hostler_status (*Table::*function)(hostler_set*, const Request*,
                                                                   hostler_op*));
  [[nodiscard]] std::string_view request() const;
  hostler_status open();
  hostler_status fail(hostler_status status, const std::string& message);
  template <class Record>
  bool relay(const hostler_rec& record);

  const FrameType type_;
  const std::uint64_t id_;
  const std::string body_;
  std::pmr::monotonic_buffer_resource memory_;  ///< Of the request.
  const std::shared_ptr<plugin_host::Connection> connection_;
  const Outlet& outlet_;
  mutable Mutex subject_mutex_;  ///< A driver may write a line about a call that it knew before.
  std::string subject_ HOSTLER_GUARDED_BY(subject_mutex_);  ///< Of the request.
  std::string record_;    ///< The one that is being sent; kept for its memory.
  std::string messages_;  ///< Records that are not sent yet.
};

}  // namespace hostler::driver_host
