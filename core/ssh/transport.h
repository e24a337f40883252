#pragma once

#include <libssh2.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/ssh/greeting.h"

/// Private to core/ssh.
namespace hostler::ssh {

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNever = Deadline::max();

/// A borrowed callable `bool()`; the callable must outlive it.
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

/// One TCP connection with its libssh2 session: moves bytes, and tries every pending step of the
/// session again whenever bytes moved.
///
/// libssh2 keeps one incoming stream for all channels: whoever reads may take in what another
/// waits for, so readiness of the socket alone tells nobody that he can go on. Hence the pump:
/// it polls every waiter again until one whole round received nothing, sent nothing and advanced
/// nobody. What libssh2 sends goes to a buffer of ours and never says EAGAIN, so that a half-sent
/// packet of one channel never locks out the others; writers look at has_room() first.
///
/// Threads: all calls on the executor's one thread. Blocking: never. Lifetime: shared by the
/// session and its channels; waiters live in the frames of their coroutines and may be destroyed
/// at any moment.
class Transport : public std::enable_shared_from_this<Transport> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  static constexpr int kChannelsMax = 8;  ///< sshd's MaxSessions is 10, and frees a little late.

  Transport(Socket socket, std::string address);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Tries `step`, a named bool() callable, until it returns true. kLost if the connection ended
  /// first; what had arrived before is still given to the steps.
  template <class Callable>
  boost::asio::awaitable<Waited> until(Callable& callable, Deadline deadline) {
    return wait(Step(callable), deadline);
  }

  [[nodiscard]] LIBSSH2_SESSION* ssh() const { return ssh_; }
  [[nodiscard]] int descriptor() { return socket_.native_handle(); }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const Greeting& greeting() const { return greeting_; }
  /// False while the peer takes less than it is sent: write no channel data now.
  [[nodiscard]] bool has_room() const { return out_.size() - out_sent_ < kRoom; }
  [[nodiscard]] bool is_lost() const { return lost_; }

  /// libssh2's last error, e.g. "Unable to exchange encryption keys (-5)".
  [[nodiscard]] std::string last_error() const;
  /// "key exchange with 127.0.0.1:22: no answer within 10 s".
  [[nodiscard]] Error error(std::string_view doing, Waited waited, Duration limit,
                            Errc code = Errc::kUnavailable) const;

  /// From here on the greeting is no longer kept the limit on bytes is off, and
  /// keepalives go out.
  void authenticated();
  void key_exchanged() { key_exchanged_ = true; }
  /// Ends the connection; every waiter ends with kLost and `why`.
  void lose(std::string why);
  /// Says goodbye as far as the socket takes it at once, then lose().
  void close();

  // Channels. A slot is taken before the open and given back when libssh2 has freed the channel.
  /// True if the caller now has a slot and the right to open; one open at a time in a session.
  bool take_slot();
  /// Result of the open: null after a failure, which gives the slot back.
  void opened(LIBSSH2_CHANNEL* channel);
  /// The opener is gone: what the server answers is freed here.
  void abandon_open();
  /// Closes and frees a channel in the background.
  void bury(LIBSSH2_CHANNEL* channel);
  [[nodiscard]] std::size_t buried() const { return graves_.size(); }

 private:
  struct Waiter;
  static constexpr std::size_t kRoom = std::size_t{256} << 10U;
  static constexpr std::size_t kBudget = std::size_t{1} << 20U;  ///< Bytes in for one pump.
  static constexpr std::size_t kUnauthenticatedMax = std::size_t{256} << 10U;

  boost::asio::awaitable<Waited> wait(Step step, Deadline deadline);
  void pump();
  bool poll_all();
  bool poll_graves();
  void flush();
  void arm();
  void keep_alive();

  ssize_t receive(void* into, std::size_t size);
  ssize_t send(const void* data, std::size_t size);
  static ssize_t on_receive(libssh2_socket_t, void* into, size_t size, int, void** self);
  static ssize_t on_send(libssh2_socket_t, const void* data, size_t size, int, void** self);

  Socket socket_;
  std::string address_;
  LIBSSH2_SESSION* ssh_;
  Greeting greeting_;
  std::list<Waiter*> waiters_;  ///< In the order of their coming: slots are given out fairly.
  std::vector<LIBSSH2_CHANNEL*> graves_;
  std::string out_;
  std::size_t out_sent_ = 0;  ///< Of out_, already with the kernel.
  std::size_t moved_ = 0;     ///< Bytes in and out in this round.
  std::size_t budget_ = 0;    ///< Bytes that this pump may still take in.
  std::size_t received_ = 0;
  int channels_ = 0;
  int immediate_ = 0;  ///< Steps in a row that were done without a wait.
  bool opening_ = false;
  bool open_abandoned_ = false;
  bool readable_ = true;  ///< The socket may hold bytes; false once it said EAGAIN.
  bool reading_ = false;  ///< A wait for bytes is under way.
  bool writing_ = false;
  bool continuing_ = false;  ///< A further pump is posted.
  bool key_exchanged_ = false;
  bool authenticated_ = false;
  bool lost_ = false;
  bool destroying_ = false;
  std::string lost_because_;
  boost::asio::steady_timer keepalive_;
};

}  // namespace hostler::ssh
