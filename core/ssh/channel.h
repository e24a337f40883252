#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.h"

struct _LIBSSH2_CHANNEL;  // NOLINT(bugprone-reserved-identifier): libssh2's own name

namespace hostler::ssh {

class Transport;

/// The streams of a command that runs on a host: binary clean, with back-pressure both ways.
/// One coroutine may read while another writes. Dropping the channel closes it; the connection
/// stays up for as long as a session or channel holds it. Rules: session.h.
class Channel {
 public:
  Channel(std::shared_ptr<Transport> transport, _LIBSSH2_CHANNEL* channel);
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;
  ~Channel();

  /// Waits for at least one byte and returns how many came; 0 at the end of the stream. Has no
  /// deadline: a peer that is gone ends it after 30 s.
  boost::asio::awaitable<Result<std::size_t>> read(std::span<char> into);

  /// Returns when all of `data` has been handed on; the bytes must stay until then.
  boost::asio::awaitable<Result<void>> write(std::string_view data);

  /// Tells the command that no more will be written.
  boost::asio::awaitable<Result<void>> finish();

  /// Ends the whole connection, this channel and all others: `why` is what everyone is told.
  void hang_up(std::string why);

  /// The last 4 KiB that the command wrote to standard error so far, for messages.
  [[nodiscard]] const std::string& errors() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostler::ssh
