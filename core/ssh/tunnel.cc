#include "core/ssh/tunnel.h"

#include <sys/socket.h>

#include <array>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/ssh/open.h"
#include "core/ssh/session.h"
#include "core/ssh/tunnel_pump.h"

namespace hostler::ssh {
namespace asio = boost::asio;
namespace {

constexpr unsigned kWindow = 256U << 10U;  ///< What a host may send before it is read.

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

Tunnel::Tunnel(UniqueFd socket, std::shared_ptr<TunnelPump> pump)
    : socket_(std::move(socket)), pump_(std::move(pump)) {}
Tunnel::~Tunnel() {  // NOLINT(bugprone-exception-escape)
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
