#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/files.h"
#include "core/driver_host/wire/frame.h"

namespace hostler::driver_host {

/// What the driver's process sends to hostlerd. Blocks while the socket is full, and so a driver
/// that emits faster than hostlerd reads waits.
///
/// Threads: any; each message is sent whole. If hostlerd has closed the socket, the process ends:
/// nobody wants what the driver does.
class Outlet {
 public:
  explicit Outlet(UniqueFd socket) : socket_(std::move(socket)) {}

  void send(std::string_view message) const;
  /// Sends one frame, as several messages if it is long.
  void send_frame(FrameType type, std::uint64_t call, std::string_view body) const;
  /// Appends a frame to `messages`, and sends what is full.
  void append_frame(std::string& messages, FrameType type, std::uint64_t call,
                    std::string_view body) const;
  /// Sends what append_frame() has left, if there is anything.
  void flush(std::string& messages) const;

  [[nodiscard]] const UniqueFd& socket() const { return socket_; }

 private:
  const UniqueFd socket_;
};

}  // namespace hostler::driver_host
