#pragma once

#include <libssh2.h>

#include <memory>
#include <string>
#include <utility>

#include "core/ssh/transport.h"

/// Private to core/ssh.
namespace hostler::ssh {

/// Owns a libssh2 channel. Its destructor gives the channel to the transport, which closes and
/// frees it in the background.
class ChannelHandle {
 public:
  ChannelHandle(std::shared_ptr<Transport> transport, LIBSSH2_CHANNEL* channel)
      : transport_(std::move(transport)), channel_(channel) {}
  ChannelHandle(ChannelHandle&& other) noexcept
      : transport_(std::move(other.transport_)), channel_(std::exchange(other.channel_, nullptr)) {}
  ChannelHandle& operator=(ChannelHandle&&) = delete;
  ~ChannelHandle() {
    if (channel_ != nullptr) transport_->close_channel(channel_);
  }
  [[nodiscard]] LIBSSH2_CHANNEL* get() const { return channel_; }
  LIBSSH2_CHANNEL* release() { return std::exchange(channel_, nullptr); }

 private:
  std::shared_ptr<Transport> transport_;
  LIBSSH2_CHANNEL* channel_;
};

struct Opened {
  Waited waited{};
  LIBSSH2_CHANNEL* channel = nullptr;  ///< Null with kDone: the server refuses the channel.
};
/// Opens the channel whose slot was taken.
boost::asio::awaitable<Opened> open_taken(std::shared_ptr<Transport> transport, Deadline deadline);

/// Waits for a free slot, opens a channel and starts `command` on it. Ends at `deadline` at the
/// latest; `limit` is the same time as a duration, for messages.
boost::asio::awaitable<Result<ChannelHandle>> start_command(std::shared_ptr<Transport> transport,
                                                            std::string command, Deadline deadline,
                                                            Duration limit);

}  // namespace hostler::ssh
