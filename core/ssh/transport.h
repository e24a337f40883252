#pragma once

#include <libssh2.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/ssh/byte_stream.h"
#include "core/ssh/channel_slots.h"
#include "core/ssh/greeting.h"
#include "core/ssh/session_memory.h"

/// Private to core/ssh.
namespace hostler::ssh {

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNever = Deadline::max();

/// Refers to a callable `bool()`, which must outlive this object.
class Step {
 public:
  template <class Callable>
  requires(!std::is_same_v<std::remove_cv_t<Callable>, Step>) explicit Step(Callable& callable)
      : object_(&callable),
        call_([](void* object) { return (*static_cast<Callable*>(object))(); }) {}
  bool operator()() const { return call_(object_); }

 private:
  void* object_;
  bool (*call_)(void*);
};

enum class Waited : std::uint8_t { kDone, kDeadline, kLost };

/// Bytes that a peer can make us keep beside the windows of its channels: the session itself, and
/// packets that are longer in memory than on the wire.
inline constexpr std::size_t kKeptMax = std::size_t{8} << 20U;

/// One connection with its libssh2 session. ByteStream is its socket, ChannelSlots its
/// channels, SessionMemory what libssh2 holds for it; this class repeats the unfinished steps of
/// the session whenever bytes have moved.
///
/// libssh2 has one incoming stream for all channels: a step that reads may take in bytes that
/// another step waits for. So a readable socket does not show which step can go on, and
/// pump() tries all steps again and again, until in one whole round no byte moved and no step was
/// completed. What libssh2 sends goes to a buffer and never gets EAGAIN, so that a half-sent packet
/// of one channel never blocks the others; writers check has_room() first.
///
/// Threads: the executor's one thread. Blocking: never. Lifetime: shared by the session and its
/// channels. Waiters are in the frames of their coroutines and may be destroyed at any moment.
class Transport : public std::enable_shared_from_this<Transport> {
 public:
  /// `tunnel`: that of the socket, or null.
  /// `kept_max`: the connection ends if the peer makes us keep more bytes than these and the
  /// windows of its channels.
  Transport(ByteStream::Socket socket, std::unique_ptr<Tunnel> tunnel, std::string address,
            std::size_t kept_max = kKeptMax);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Repeats `step`, a named bool() callable, until it returns true. kLost if the connection ended
  /// first; bytes that had arrived before are still passed to the steps.
  template <class Callable>
  boost::asio::awaitable<Waited> until(Callable& callable, Deadline deadline) {
    return wait(Step(callable), deadline);
  }

  [[nodiscard]] LIBSSH2_SESSION* ssh() const { return ssh_; }
  [[nodiscard]] int descriptor() { return stream_.descriptor(); }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const Greeting& greeting() const { return greeting_; }
  /// False while the peer takes less than it is sent: write no channel data now.
  [[nodiscard]] bool has_room() const { return stream_.has_room(); }
  [[nodiscard]] bool is_lost() const { return stream_.has_ended(); }

  /// libssh2's last error, e.g. "Unable to exchange encryption keys (-5)".
  [[nodiscard]] std::string last_error() const;
  /// "key exchange with 127.0.0.1:22: no answer within 10 s".
  [[nodiscard]] Error error(std::string_view doing, Waited waited, Duration limit,
                            Errc code = Errc::kUnavailable) const;

  /// Keeps `what` for as long as the socket.
  void keep(std::shared_ptr<void> what) { stream_.keep(std::move(what)); }
  void key_exchanged() { key_exchanged_ = true; }
  /// From here on the greeting is not recorded, the limit on received bytes is off, and keepalives
  /// are sent.
  void authenticated();
  /// Ends the connection; every waiter ends with kLost, and its error gives `reason`.
  void disconnect(std::string reason);
  /// Sends a goodbye, if the socket takes it at once, then disconnects.
  void close();

  [[nodiscard]] ChannelSlots& channels() { return channels_; }
  [[nodiscard]] auto executor() { return stream_.executor(); }
  /// Tries all steps again soon: something that they depend on has changed.
  void try_again() { pump_later(); }
  /// Closes and frees a channel in the background.
  void close_channel(LIBSSH2_CHANNEL* channel);
  /// The coroutine that opened a channel is gone: frees the channel when the server has opened it.
  void abandon_open();

 private:
  struct Waiter;

  boost::asio::awaitable<Waited> wait(Step step, Deadline deadline);
  void pump();
  void pump_later();
  bool poll_all();
  void end_waiters();
  void keep_alive();

  ssize_t receive(void* into, std::size_t size);
  ssize_t send(const void* data, std::size_t size);
  static ssize_t on_receive(libssh2_socket_t, void* into, size_t size, int, void** self);
  static ssize_t on_send(libssh2_socket_t, const void* data, size_t size, int, void** self);

  ByteStream stream_;
  std::string address_;
  SessionMemory memory_;
  LIBSSH2_SESSION* ssh_;
  ChannelSlots channels_;
  Greeting greeting_;
  std::list<Waiter*> waiters_;  ///< Oldest first, so that slots are given out fairly.
  boost::asio::steady_timer keepalive_;
  const std::size_t kept_max_;
  std::size_t received_ = 0;  ///< Bytes before authentication.
  int immediate_ = 0;         ///< Steps in a row that were done without a wait.
  bool pump_posted_ = false;
  bool key_exchanged_ = false;
  bool authenticated_ = false;
  bool destroying_ = false;
};

}  // namespace hostler::ssh
