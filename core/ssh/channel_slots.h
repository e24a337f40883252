#pragma once

#include <libssh2.h>

#include <cstddef>
#include <vector>

/// Private to core/ssh.
namespace hostler::ssh {

/// The channels of one libssh2 session. At most kMax exist at once, and at most one is being
/// opened, since libssh2 keeps the state of one open in the session. Channels that nobody uses any
/// more are closed and freed in the background.
///
/// A slot is taken before the open and is free again when libssh2 has freed the channel.
///
/// Threads: the executor's one thread. Blocking: never. Lifetime: part of a Transport.
class ChannelSlots {
 public:
  static constexpr int kMax = 8;  ///< sshd's MaxSessions is 10, and it frees a little late.

  /// `ssh` must live until poll() is called no more.
  explicit ChannelSlots(LIBSSH2_SESSION* ssh) : ssh_(ssh) {}

  /// Takes a slot and the right to open a channel. False if there is none now: try again after
  /// something has happened on the connection.
  bool take();
  /// The open has ended. Null means that it failed, which frees the slot.
  void opened(LIBSSH2_CHANNEL* channel);
  /// Nobody waits for the open any more: poll() finishes it and frees the channel.
  void abandon_open() { open_abandoned_ = true; }
  /// Leaves a channel to poll(), which closes and frees it.
  void close(LIBSSH2_CHANNEL* channel) { closing_.push_back(channel); }

  /// Goes on with closing. Returns whether a slot became free.
  bool poll();
  /// Whether poll() waits for an answer of the server.
  [[nodiscard]] bool is_closing() const { return !closing_.empty() || open_abandoned_; }
  /// Number of channels that the server has not closed yet.
  [[nodiscard]] std::size_t closing() const { return closing_.size(); }

 private:
  LIBSSH2_SESSION* ssh_;
  std::vector<LIBSSH2_CHANNEL*> closing_;
  int taken_ = 0;
  bool opening_ = false;
  bool open_abandoned_ = false;
};

}  // namespace hostler::ssh
