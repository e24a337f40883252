#include "core/ssh/transport.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "core/base/units.h"

namespace hostler::ssh {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto kKeepaliveEvery = 15s;
constexpr int kImmediateMax = 32;

/// libssh2 1.10 reads 32 bytes of a host's ed25519 key however short the host made it, past the end
/// of what it allocated for it (fixed in 1.11). Each of its allocations has room for that.
constexpr std::size_t kSlack = 32;

LIBSSH2_ALLOC_FUNC(allocate) {
  (void)abstract;
  auto* const made = static_cast<char*>(std::malloc(count + kSlack));
  if (made != nullptr) std::memset(made + count, 0, kSlack);
  return made;
}
LIBSSH2_REALLOC_FUNC(reallocate) {
  (void)abstract;
  return std::realloc(ptr, count + kSlack);
}
LIBSSH2_FREE_FUNC(release) {
  (void)abstract;
  std::free(ptr);
}

LIBSSH2_SESSION* new_session(void* self) {
  static const int started = libssh2_init(0);
  LIBSSH2_SESSION* const session = libssh2_session_init_ex(allocate, release, reallocate, self);
  if (started != 0 || session == nullptr) std::abort();  // out of memory
  libssh2_session_set_blocking(session, 0);
  return session;
}

}  // namespace

/// One coroutine that waits for its step. Its timer is both the deadline and the way to wake it,
/// so that asio owns the suspended coroutine and may destroy it whenever it likes.
struct Transport::Waiter {
  Waiter(Transport& owner, Step tried, Deadline deadline)
      : transport(owner), step(tried), timer(owner.socket_.get_executor(), deadline) {
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

Transport::Transport(Socket socket, std::string address)
    : socket_(std::move(socket)),
      address_(std::move(address)),
      ssh_(new_session(this)),
      keepalive_(socket_.get_executor()) {
  libssh2_session_callback_set(ssh_, LIBSSH2_CALLBACK_RECV, reinterpret_cast<void*>(&on_receive));
  libssh2_session_callback_set(ssh_, LIBSSH2_CALLBACK_SEND, reinterpret_cast<void*>(&on_send));
}

Transport::~Transport() {
  // Both callbacks fail from here on, so nothing below waits; an unfinished key exchange is
  // stepped once more because only its own failure path frees what it holds.
  destroying_ = true;
  if (!key_exchanged_) libssh2_session_handshake(ssh_, descriptor());
  libssh2_session_free(ssh_);
}

asio::awaitable<Waited> Transport::wait(Step step, Deadline deadline) {
  const auto self = shared_from_this();
  Waiter waiter(*this, step, deadline);
  pump();
  if (waiter.done) {
    // Steps that never have to wait must not keep the thread from other hosts.
    if (++immediate_ < kImmediateMax) co_return Waited::kDone;
    immediate_ = 0;
    const auto executor = socket_.get_executor();
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
  budget_ = kBudget;
  bool advanced = true;
  while (advanced || moved_ > 0) {
    moved_ = 0;
    advanced = poll_all();
    flush();
  }
  if (lost_) {
    for (Waiter* const waiter : waiters_) {
      if (waiter->done || waiter->lost) continue;
      waiter->lost = true;
      waiter->timer.cancel();
    }
    return;
  }
  arm();
}

bool Transport::poll_all() {
  bool advanced = poll_graves();
  for (Waiter* const waiter : waiters_) {
    if (waiter->done || waiter->lost || !waiter->step()) continue;
    waiter->done = true;
    waiter->timer.cancel();
    advanced = true;
  }
  return advanced;
}

bool Transport::poll_graves() {
  if (open_abandoned_) {
    LIBSSH2_CHANNEL* const channel = libssh2_channel_open_session(ssh_);
    if (channel != nullptr || libssh2_session_last_errno(ssh_) != LIBSSH2_ERROR_EAGAIN) {
      open_abandoned_ = false;
      opened(channel);
      if (channel != nullptr) graves_.push_back(channel);
    }
  }
  const auto freed = std::erase_if(graves_, [](LIBSSH2_CHANNEL* channel) {
    return libssh2_channel_free(channel) != LIBSSH2_ERROR_EAGAIN;
  });
  channels_ -= static_cast<int>(freed);
  return freed > 0;
}

void Transport::arm() {
  // What is left over after the budget waits its turn behind the other hosts.
  if (readable_ && budget_ == 0 && !continuing_) {
    continuing_ = true;
    asio::post(socket_.get_executor(), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->continuing_ = false;
      self->pump();
    });
  }
  const bool wanted = !waiters_.empty() || !graves_.empty() || open_abandoned_;
  if (!readable_ && !reading_ && wanted) {
    reading_ = true;
    socket_.async_wait(Socket::wait_read, [weak = weak_from_this()](const auto& problem) {
      const auto self = weak.lock();
      if (!self) return;
      self->reading_ = false;
      if (problem) return;
      self->readable_ = true;
      self->pump();
    });
  }
  if (out_sent_ < out_.size() && !writing_) {
    writing_ = true;
    socket_.async_wait(Socket::wait_write, [weak = weak_from_this()](const auto& problem) {
      const auto self = weak.lock();
      if (!self) return;
      self->writing_ = false;
      if (!problem) self->pump();
    });
  }
}

void Transport::flush() {
  while (!lost_ && out_sent_ < out_.size()) {
    const ssize_t n = ::send(descriptor(), out_.data() + out_sent_, out_.size() - out_sent_,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n < 0) {
      lose(std::generic_category().message(errno));
      return;
    }
    out_sent_ += static_cast<std::size_t>(n);
    moved_ += static_cast<std::size_t>(n);
  }
  if (out_sent_ == out_.size()) {
    out_.clear();
    out_sent_ = 0;
    if (out_.capacity() > kRoom / 4) out_.shrink_to_fit();  // 10,000 hosts are idle at once
  } else if (out_sent_ > kRoom) {
    out_.erase(0, out_sent_);
    out_sent_ = 0;
  }
}

ssize_t Transport::on_receive(libssh2_socket_t, void* into, size_t size, int, void** self) {
  return static_cast<Transport*>(*self)->receive(into, size);
}

ssize_t Transport::on_send(libssh2_socket_t, const void* data, size_t size, int, void** self) {
  return static_cast<Transport*>(*self)->send(data, size);
}

/// Never reports the end of the connection to libssh2, which would then withhold what it still
/// has; pump() ends the waiters after they have had everything.
ssize_t Transport::receive(void* into, std::size_t size) {
  if (destroying_) return -ECONNRESET;
  if (!readable_ || lost_ || budget_ == 0) return -EAGAIN;
  ssize_t n = 0;
  do {
    n = ::recv(descriptor(), into, std::min(size, budget_), MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    readable_ = false;
    return -EAGAIN;
  }
  if (n <= 0) {
    lose(n == 0 ? "the peer closed the connection" : std::generic_category().message(errno));
    return -EAGAIN;
  }
  const auto got = static_cast<std::size_t>(n);
  moved_ += got;
  budget_ -= got;
  if (!authenticated_) {
    greeting_.add({static_cast<const char*>(into), got});
    received_ += got;
    if (received_ > kUnauthenticatedMax) lose("the peer sent too much before authentication");
  }
  return n;
}

ssize_t Transport::send(const void* data, std::size_t size) {
  if (destroying_) return -EPIPE;
  if (!lost_) out_.append(static_cast<const char*>(data), size);
  moved_ += size;
  return static_cast<ssize_t>(size);
}

void Transport::lose(std::string why) {
  if (lost_) return;
  lost_ = true;
  lost_because_ = std::move(why);
  keepalive_.cancel();
  boost::system::error_code ignored;
  socket_.cancel(ignored);
  asio::post(socket_.get_executor(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  });
}

void Transport::close() {
  if (lost_) return;
  libssh2_session_disconnect(ssh_, "done");
  flush();
  lose("the session was closed here");
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_both, ignored);
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
      text += lost_because_;
      break;
  }
  return {code, std::move(text)};
}

bool Transport::take_slot() {
  if (opening_ || channels_ >= kChannelsMax) return false;
  opening_ = true;
  ++channels_;
  return true;
}

void Transport::opened(LIBSSH2_CHANNEL* channel) {
  opening_ = false;
  if (channel == nullptr) --channels_;
}

void Transport::abandon_open() {
  open_abandoned_ = true;
  bury(nullptr);
}

void Transport::bury(LIBSSH2_CHANNEL* channel) {
  // Not pumped here: this runs in destructors, maybe of a waiter's own coroutine.
  try {
    if (channel != nullptr) graves_.push_back(channel);
    asio::post(socket_.get_executor(), [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->pump();
    });
  } catch (const std::exception&) {
    // Out of memory: a channel stays open, or the session's next event pumps.
  }
}

void Transport::authenticated() {
  authenticated_ = true;
  // No reply wanted: libssh2 1.10 would queue each for ever. A dead peer shows by TCP_USER_TIMEOUT.
  libssh2_keepalive_config(ssh_, 0, static_cast<unsigned>(kKeepaliveEvery.count()));
  keep_alive();
}

void Transport::keep_alive() {
  keepalive_.expires_after(kKeepaliveEvery);
  keepalive_.async_wait([weak = weak_from_this()](const auto& problem) {
    const auto self = weak.lock();
    if (problem || !self || self->lost_) return;
    int next = 0;
    libssh2_keepalive_send(self->ssh_, &next);
    self->pump();
    self->keep_alive();
  });
}

}  // namespace hostler::ssh
