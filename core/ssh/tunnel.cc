#include "core/ssh/tunnel.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/ssh/open.h"
#include "core/ssh/session.h"

namespace hostler::ssh {
namespace asio = boost::asio;
namespace {

constexpr std::size_t kPiece = 16384;
constexpr unsigned kWindow = 256U << 10U;  ///< What a host may send before it is read.

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

std::string address_of(const TunnelRequest& request) {
  const bool v6 = request.host.find(':') != std::string::npos;
  return (v6 ? "[" + request.host + "]" : request.host) + ":" + std::to_string(request.port);
}

void append_u32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xffU);
}

void append_string(std::string& out, std::string_view text) {
  append_u32(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

/// RFC 4254 section 7.2. The address that the connection is made for says nothing about us.
ChannelRequest to_channel_request(const TunnelRequest& request) {
  ChannelRequest out{.type = "direct-tcpip", .data = {}, .window = kWindow};
  append_string(out.data, request.host);
  append_u32(out.data, request.port);
  append_string(out.data, "127.0.0.1");
  append_u32(out.data, 0);
  return out;
}

/// What the server has answered: "administratively prohibited".
std::string refusal(const std::string& last_error) {
  const std::size_t from = last_error.find('('), to = last_error.find(')');
  if (!last_error.starts_with("Channel open failure (") || to == std::string::npos)
    return printable(last_error, 200);
  return last_error.substr(from + 1, to - from - 1);
}

std::string advice(const std::string& answer) {
  if (answer == "administratively prohibited")
    return "; check AllowTcpForwarding and PermitOpen in its sshd_config";
  if (answer == "connect failed") return "; is the host up, and its sshd?";
  return {};
}

}  // namespace

/// Moves bytes between a channel and one end of a pair of sockets, until one of the two ends. Its
/// coroutines keep it alive.
class TunnelPump : public std::enable_shared_from_this<TunnelPump> {
 public:
  TunnelPump(std::shared_ptr<Transport> server, ChannelHandle channel, ByteStream::Socket socket)
      : server_(std::move(server)), channel_(std::move(channel)), socket_(std::move(socket)) {}

  void start() {
    const auto run = [this](asio::awaitable<void> direction) {
      asio::co_spawn(server_->executor(), std::move(direction),
                     [self = shared_from_this()](const std::exception_ptr&) {});
    };
    run(to_host());
    run(from_host());
  }
  /// The other end of the pair is not used any more: what was written there is still sent, if that
  /// needs no wait for the server.
  void abandon() {
    abandoned_ = true;
    boost::system::error_code ignored;
    socket_.cancel(ignored);
    server_->try_again();
  }
  [[nodiscard]] const std::string& end_reason() const { return end_reason_; }

 private:
  asio::awaitable<void> to_host();
  asio::awaitable<void> from_host();
  asio::awaitable<bool> send_to_host(std::string_view data);
  asio::awaitable<bool> send_to_socket(std::string_view data);
  asio::awaitable<void> wait_for_socket(ByteStream::Socket::wait_type what);
  void end(std::string reason);

  std::shared_ptr<Transport> server_;
  ChannelHandle channel_;
  ByteStream::Socket socket_;
  std::string end_reason_;
  bool abandoned_ = false;
};

void TunnelPump::end(std::string reason) {
  if (end_reason_.empty()) end_reason_ = std::move(reason);
  boost::system::error_code ignored;
  socket_.shutdown(ByteStream::Socket::shutdown_send, ignored);
}

asio::awaitable<void> TunnelPump::wait_for_socket(ByteStream::Socket::wait_type what) {
  boost::system::error_code cancelled;
  auto token = asio::redirect_error(asio::use_awaitable, cancelled);
  co_await socket_.async_wait(what, std::move(token));
}

/// False: nothing more can be sent.
asio::awaitable<bool> TunnelPump::send_to_host(std::string_view data) {
  ssize_t n = 0;
  auto give = [&] {
    while (!data.empty() && server_->has_room() && !server_->is_lost()) {
      n = libssh2_channel_write(channel_.get(), data.data(), data.size());
      if (n < 0 && n != LIBSSH2_ERROR_EAGAIN) return true;
      if (n <= 0) break;
      data.remove_prefix(static_cast<std::size_t>(n));
    }
    return data.empty() || abandoned_;
  };
  const Waited waited = co_await server_->until(give, kNever);
  co_return waited == Waited::kDone&& data.empty();
}

asio::awaitable<void> TunnelPump::to_host() {
  const auto self = shared_from_this();
  std::vector<char> piece(kPiece);
  for (;;) {
    const ssize_t n = ::recv(socket_.native_handle(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (n < 0 && would_block() && !abandoned_) {
      co_await wait_for_socket(ByteStream::Socket::wait_read);
      continue;
    }
    if (n <= 0) break;
    const std::string_view data(piece.data(), static_cast<std::size_t>(n));
    const bool sent = co_await send_to_host(data);
    if (!sent) break;
  }
}

/// False: the other end of the pair is gone.
asio::awaitable<bool> TunnelPump::send_to_socket(std::string_view data) {
  while (!data.empty() && !abandoned_) {
    const ssize_t n =
        ::send(socket_.native_handle(), data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && would_block()) {
      co_await wait_for_socket(ByteStream::Socket::wait_write);
      continue;
    }
    if (n < 0) co_return false;
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  co_return !abandoned_;
}

asio::awaitable<void> TunnelPump::from_host() {
  const auto self = shared_from_this();
  std::vector<char> piece(kPiece);
  for (;;) {
    ssize_t n = 0;
    auto take = [&] {
      if (abandoned_) return true;
      n = libssh2_channel_read(channel_.get(), piece.data(), piece.size());
      if (n == 0) return libssh2_channel_eof(channel_.get()) != 0;
      return n != LIBSSH2_ERROR_EAGAIN;
    };
    const Waited waited = co_await server_->until(take, kNever);
    if (abandoned_) co_return;
    if (waited != Waited::kDone || n < 0) {
      Error error = server_->error("lost the jump host: session", waited, {});
      co_return end(std::move(error.message));
    }
    if (n == 0) co_return end({});
    const std::string_view data(piece.data(), static_cast<std::size_t>(n));
    const bool sent = co_await send_to_socket(data);
    if (!sent) co_return;
  }
}

Tunnel::Tunnel(UniqueFd socket, std::shared_ptr<TunnelPump> pump)
    : socket_(std::move(socket)), pump_(std::move(pump)) {}
Tunnel::~Tunnel() {
  socket_.reset();
  pump_->abandon();
}
const std::string& Tunnel::end_reason() const { return pump_->end_reason(); }

TunnelRoom Session::tunnel_room() const {
  const ChannelSlots& slots = transport_->channels();
  if (slots.is_open_abandoned()) return TunnelRoom::kStuck;
  if (slots.is_opening()) return TunnelRoom::kOpening;
  return slots.taken() < ChannelSlots::kTunnelsMax ? TunnelRoom::kFree : TunnelRoom::kFull;
}

int Session::tunnels() const { return transport_->channels().taken(); }

asio::awaitable<Result<std::unique_ptr<Tunnel>>> Session::open_tunnel(TunnelRequest request) {
  const auto transport = transport_;
  const Deadline deadline = std::chrono::steady_clock::now() + request.limit;
  const std::string to = address_of(request);
  const auto failed = [&](Waited waited, const std::string& silent) {
    return fail(Errc::kUnavailable,
                waited == Waited::kLost
                    ? transport->error("the connection", waited, request.limit).message
                    : silent + format_duration(request.limit));
  };
  bool mine = false;
  const ChannelRequest wanted = to_channel_request(request);
  auto take = [&] {
    return mine = mine || (!transport->is_lost() && transport->channels().take(wanted));
  };
  const Waited slot = co_await transport->until(take, deadline);
  if (slot != Waited::kDone) co_return failed(slot, "it had no room for a connection within ");

  const Opened opened = co_await open_taken(transport, deadline);
  if (opened.waited != Waited::kDone)
    co_return failed(opened.waited,
                     "the host does not answer: no connection to " + to + " within ");
  if (opened.channel == nullptr) {
    const std::string answer = refusal(transport->last_error());
    co_return fail(Errc::kUnavailable,
                   "connection to " + to + " refused by it (" + answer + ")" + advice(answer));
  }
  ChannelHandle channel(transport, opened.channel);
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
    co_return tl::unexpected(errno_error("make a pair of sockets", Errc::kUnavailable));
  UniqueFd ours(ends[0]), pumped(ends[1]);
  ByteStream::Socket socket(transport->executor());
  boost::system::error_code problem;
  socket.assign(asio::generic::stream_protocol(AF_UNIX, 0), pumped.get(), problem);
  if (problem) co_return fail(Errc::kUnavailable, "register a socket: " + problem.message());
  pumped.release();
  auto pump = std::make_shared<TunnelPump>(transport, std::move(channel), std::move(socket));
  pump->start();
  co_return std::make_unique<Tunnel>(std::move(ours), std::move(pump));
}

}  // namespace hostler::ssh
