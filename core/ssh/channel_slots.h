#pragma once

#include <libssh2.h>

#include <cstddef>
#include <string>
#include <vector>

/// Private to core/ssh.
namespace hostler::ssh {

/// What a server is asked to open.
struct ChannelRequest {
  std::string type = "session";
  std::string data;  ///< Of this type (RFC 4254).
  unsigned window = LIBSSH2_CHANNEL_WINDOW_DEFAULT;
};

/// The channels of one libssh2 session. Their number has a maximum, and at most one is being
/// opened, since libssh2 keeps the state of one open in the session. Channels that nobody uses any
/// more are closed and freed in the background.
///
/// A slot is taken before the open and is free again when libssh2 has freed the channel.
///
/// Threads: the executor's one thread. Blocking: never. Lifetime: part of a Transport.
class ChannelSlots {
 public:
  static constexpr int kMax = 8;  ///< sshd's MaxSessions is 10, and it frees a little late.
  /// Of connections that the server makes for us, which sshd does not limit. Each step of one is
  /// tried whenever bytes of any have come, so more of them would cost too much time.
  static constexpr int kTunnelsMax = 100;

  /// `ssh` must live until poll() is called no more.
  explicit ChannelSlots(LIBSSH2_SESSION* ssh) : ssh_(ssh) {}

  /// Takes a slot and the right to open a channel. False if there is none now: try again after
  /// something has happened on the connection.
  bool take(const ChannelRequest& request);
  /// Goes on with the open that has the slot. Null: it has failed, or libssh2's last error is
  /// EAGAIN.
  LIBSSH2_CHANNEL* open();
  /// The open has ended. Null means that it failed, which frees the slot.
  void opened(LIBSSH2_CHANNEL* channel);
  /// Nobody waits for the open any more: poll() finishes it and frees the channel.
  void abandon_open() { open_abandoned_ = true; }
  [[nodiscard]] bool is_opening() const { return opening_; }
  [[nodiscard]] bool is_open_abandoned() const { return open_abandoned_; }
  /// Leaves a channel to poll(), which closes and frees it.
  void close(LIBSSH2_CHANNEL* channel) { closing_.push_back(channel); }

  /// Goes on with closing. Returns whether a slot became free.
  bool poll();
  /// Whether poll() waits for an answer of the server.
  [[nodiscard]] bool is_closing() const { return !closing_.empty() || open_abandoned_; }
  /// Number of channels that the server has not closed yet.
  [[nodiscard]] std::size_t closing() const { return closing_.size(); }
  /// Number of channels, also of the one that is being opened.
  [[nodiscard]] int taken() const { return taken_; }
  /// How many bytes the server may send in all channels before any is read, at most.
  [[nodiscard]] std::size_t windows() const {
    return static_cast<std::size_t>(taken_) * window_max_;
  }

 private:
  LIBSSH2_SESSION* ssh_;
  ChannelRequest request_;  ///< Of the open that is under way.
  std::vector<LIBSSH2_CHANNEL*> closing_;
  int taken_ = 0;
  std::size_t window_max_ = 0;  ///< The largest window that was asked for.
  bool opening_ = false;
  bool open_abandoned_ = false;
};

}  // namespace hostler::ssh
