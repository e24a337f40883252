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

/// The streams of a command that runs on a host. They carry any bytes; a slow reader on either side
/// stops the writer on the other. One coroutine may read while another one writes. Destroying the
/// channel closes it; the connection ends with the last session or channel that uses it. The rules
/// on threads and errors are in session.h.
class Channel {
 public:
  Channel(std::shared_ptr<Transport> transport, _LIBSSH2_CHANNEL* channel);
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;
  ~Channel();

  /// Waits for at least one byte and returns the number of bytes; 0 at the end of the stream. Has
  /// no deadline; if the peer is gone, it ends with an error after 30 s.
  boost::asio::awaitable<Result<std::size_t>> read(std::span<char> into);

  /// Returns when all of `data` is in the connection's buffer. `data` must stay valid until then.
  boost::asio::awaitable<Result<void>> write(std::string_view data);

  /// Sends end of file to the command.
  boost::asio::awaitable<Result<void>> finish();

  /// Ends the whole connection with all its channels. Everyone who waits gets an error with
  /// `reason`.
  void hang_up(std::string reason);

  /// The last 4 KiB of the command's standard error so far, for messages.
  [[nodiscard]] const std::string& errors() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostler::ssh
