#include "core/ssh/transport.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <system_error>

#include "core/base/units.h"
#include "core/ssh/tunnel.h"

namespace hostler::ssh {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto kKeepaliveEvery = 15s;
constexpr int kImmediateMax = 32;
constexpr std::size_t kUnauthenticatedMax = std::size_t{256} << 10U;  // received bytes

/// libssh2 1.11.1 has a function of another type for it, and calls the first one deprecated.
template <class Function>
void set_callback(LIBSSH2_SESSION* session, int which, Function* callback) {
#if LIBSSH2_VERSION_NUM >= 0x010b01
  libssh2_session_callback_set2(session, which, reinterpret_cast<libssh2_cb_generic*>(callback));
#else
  libssh2_session_callback_set(session, which, reinterpret_cast<void*>(callback));
#endif
}

}  // namespace

/// One coroutine that waits until its step is done. The timer is the deadline, and cancelling it
/// wakes the coroutine. So asio owns the suspended coroutine and may destroy it at any moment.
struct Transport::Waiter {
  Waiter(Transport& owner, Step tried, Deadline deadline)
      : transport(owner), step(tried), timer(owner.stream_.executor(), deadline) {
    place = transport.waiters_.insert(transport.waiters_.end(), this);
  }
  ~Waiter() { transport.waiters_.erase(place); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  Transport& transport;
  Step step;
  asio::steady_timer timer;
  std::list<Waiter*>::iterator place;
  bool done = false;
  bool lost = false;
};

Transport::Transport(ByteStream::Socket socket, std::unique_ptr<Tunnel> tunnel, std::string address,
                     std::size_t kept_max)
    : stream_(std::move(socket), std::move(tunnel), [this] { pump(); }),
      address_(std::move(address)),
      memory_(*this),
      ssh_(memory_.make_session()),
      channels_(ssh_),
      keepalive_(stream_.executor()),
      kept_max_(kept_max) {
  set_callback(ssh_, LIBSSH2_CALLBACK_RECV, &on_receive);
  set_callback(ssh_, LIBSSH2_CALLBACK_SEND, &on_send);
}

Transport::~Transport() {
  // From here on both callbacks fail, so the calls below do not wait. An unfinished key exchange
  // must run once more, since libssh2 frees its memory only when the exchange fails.
  destroying_ = true;
  if (!key_exchanged_) libssh2_session_handshake(ssh_, descriptor());
  libssh2_session_free(ssh_);
}

asio::awaitable<Waited> Transport::wait(Step step, Deadline deadline) {
  const auto self = shared_from_this();
  Waiter waiter(*this, step, deadline);
  pump();
  if (waiter.done) {
    // Steps that never wait must not take the thread away from other hosts.
    if (++immediate_ < kImmediateMax) co_return Waited::kDone;
    immediate_ = 0;
    const auto executor = stream_.executor();
    co_await asio::post(executor, asio::use_awaitable);
    co_return Waited::kDone;
  }
  immediate_ = 0;
  while (!waiter.done && !waiter.lost) {
    if (std::chrono::steady_clock::now() >= deadline) co_return Waited::kDeadline;
    co_await waiter.timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return waiter.done ? Waited::kDone : Waited::kLost;
}

void Transport::pump() {
  stream_.renew_budget();
  for (bool progress = true; progress;) {
    const bool advanced = poll_all();
    stream_.flush();
    progress = stream_.take_moved() > 0 || advanced;
  }
  if (is_lost()) return end_waiters();
  // Bytes beyond the budget wait until the other hosts of this thread have had their turn.
  if (stream_.is_over_budget()) pump_later();
  stream_.wait(weak_from_this(), !waiters_.empty() || channels_.is_closing());
}

void Transport::pump_later() {
  if (pump_posted_) return;
  asio::post(stream_.executor(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->pump_posted_ = false;
    self->pump();
  });
  pump_posted_ = true;
}

/// Tries every unfinished step once. Returns whether one was completed.
bool Transport::poll_all() {
  bool advanced = channels_.poll();
  for (Waiter* const waiter : waiters_) {
    if (waiter->done || waiter->lost || !waiter->step()) continue;
    waiter->done = true;
    waiter->timer.cancel();
    advanced = true;
  }
  return advanced;
}

void Transport::end_waiters() {
  keepalive_.cancel();
  for (Waiter* const waiter : waiters_) {
    if (waiter->done || waiter->lost) continue;
    waiter->lost = true;
    waiter->timer.cancel();
  }
}

ssize_t Transport::on_receive(libssh2_socket_t, void* into, size_t size, int, void** self) {
  return SessionMemory::owner_of(self).receive(into, size);
}

ssize_t Transport::on_send(libssh2_socket_t, const void* data, size_t size, int, void** self) {
  return SessionMemory::owner_of(self).send(data, size);
}

ssize_t Transport::receive(void* into, std::size_t size) {
  if (destroying_) return -ECONNRESET;
  const ssize_t n = stream_.receive(into, size);
  if (n > 0 && memory_.held() > kept_max_ + channels_.windows())
    stream_.end("it sends what nobody reads: " +
                format_size(static_cast<std::int64_t>(memory_.held())) + " of it are kept here");
  if (n > 0 && !authenticated_) {
    const auto got = static_cast<std::size_t>(n);
    greeting_.add({static_cast<const char*>(into), got});
    received_ += got;
    if (received_ > kUnauthenticatedMax)
      stream_.end("the peer sent too much before authentication");
  }
  return n;
}

ssize_t Transport::send(const void* data, std::size_t size) {
  return destroying_ ? -EPIPE : stream_.send(data, size);
}

void Transport::disconnect(std::string reason) {
  if (is_lost()) return;
  stream_.end(std::move(reason));
  pump_later();
}

void Transport::close() {
  if (is_lost()) return;
  libssh2_session_disconnect(ssh_, "done");
  stream_.flush();
  stream_.end("the session was closed here");
  pump_later();
  stream_.shut_down();
}

std::string Transport::last_error() const {
  char* text = nullptr;
  const int code = libssh2_session_last_error(ssh_, &text, nullptr, 0);
  return std::string(text != nullptr && *text != '\0' ? text : "unknown error") + " (libssh2 " +
         std::to_string(code) + ")";
}

Error Transport::error(std::string_view doing, Waited waited, Duration limit, Errc code) const {
  std::string text = std::string(doing) + " with " + address_ + ": ";
  switch (waited) {
    case Waited::kDone:
      text += last_error();
      break;
    case Waited::kDeadline:
      text += "no answer within " + format_duration(limit);
      break;
    case Waited::kLost:
      text += stream_.end_reason();
      break;
  }
  return {code, std::move(text)};
}

void Transport::abandon_open() {
  channels_.abandon_open();
  close_channel(nullptr);
}

void Transport::close_channel(LIBSSH2_CHANNEL* channel) {
  // Destructors call this, perhaps that of a waiter's own coroutine: so the pump runs later.
  try {
    if (channel != nullptr) channels_.close(channel);
    pump_later();
  } catch (const std::exception&) {
    // Out of memory: the channel stays open, or the next event of the session closes it.
  }
}

void Transport::authenticated() {
  authenticated_ = true;
  // Asks for no replies, which libssh2 1.10 would queue for ever. TCP_USER_TIMEOUT detects a dead
  // peer.
  libssh2_keepalive_config(ssh_, 0, static_cast<unsigned>(kKeepaliveEvery.count()));
  keep_alive();
}

void Transport::keep_alive() {
  keepalive_.expires_after(kKeepaliveEvery);
  keepalive_.async_wait([weak = weak_from_this()](const auto& problem) {
    const auto self = weak.lock();
    if (problem || !self || self->is_lost()) return;
    int next = 0;
    libssh2_keepalive_send(self->ssh_, &next);
    self->pump();
    self->keep_alive();
  });
}

}  // namespace hostler::ssh
