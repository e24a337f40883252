#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/ssh/session.h"
#include "core/ssh/transport.h"
#include "core/ssh/tunnel.h"

namespace hostler::ssh {
namespace asio = boost::asio;
using tcp = asio::ip::tcp;
namespace {

constexpr unsigned kPeerSilentMs = 30'000;

std::string address_text(const ConnectRequest& request) {
  const bool v6 = request.host.find(':') != std::string::npos;
  return (v6 ? "[" + request.host + "]" : request.host) + ":" + std::to_string(request.port) +
         (request.via.empty() ? "" : " through " + request.via);
}

/// Not with asio's open(): child processes of this one would inherit its descriptor.
Result<tcp::socket> open_socket(const asio::any_io_executor& executor, const tcp& protocol) {
  UniqueFd fd(::socket(protocol.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return tl::unexpected(errno_error("create a socket", Errc::kUnavailable));
  const int yes = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kPeerSilentMs, sizeof(kPeerSilentMs));
  tcp::socket socket(executor);
  boost::system::error_code problem;
  socket.assign(protocol, fd.get(), problem);
  if (problem) return fail(Errc::kUnavailable, "register a socket: " + problem.message());
  fd.release();
  return socket;
}

std::string hint(const boost::system::error_code& problem) {
  if (problem == asio::error::connection_refused)
    return " (no program listens on this port: is sshd up?)";
  if (problem == asio::error::operation_aborted) return " (does a firewall block this port?)";
  return {};
}

asio::awaitable<Result<std::vector<tcp::endpoint>>> resolve(const ConnectRequest& request) {
  std::vector<tcp::endpoint> out;
  boost::system::error_code problem;
  const auto literal = asio::ip::make_address(request.host, problem);
  if (!problem) {
    out.emplace_back(literal, request.port);
    co_return out;
  }
  const auto names = request.names ? request.names : std::make_shared<NameResolver>();
  std::string name = request.host;
  const auto found = co_await names->resolve(std::move(name), request.resolve_limit);
  if (!found) co_return tl::unexpected(found.error());
  for (const auto& address : *found) out.emplace_back(address, request.port);
  co_return out;
}

asio::awaitable<Result<tcp::socket>> connect_one(tcp::endpoint endpoint, Duration limit) {
  const auto executor = co_await asio::this_coro::executor;
  auto opened = open_socket(executor, endpoint.protocol());
  if (!opened) co_return opened;
  // The timer shares it: its handler may be queued already when this coroutine is destroyed.
  const auto socket = std::make_shared<tcp::socket>(std::move(*opened));
  asio::steady_timer timer(executor, limit);
  timer.async_wait([socket](const auto& problem) {
    boost::system::error_code ignored;
    if (!problem) socket->cancel(ignored);
  });
  const auto [problem] =
      co_await socket->async_connect(endpoint, asio::as_tuple(asio::use_awaitable));
  timer.cancel();
  if (problem == asio::error::operation_aborted)
    co_return fail(Errc::kUnavailable,
                   "no answer within " + format_duration(limit) + hint(problem));
  if (problem) co_return fail(Errc::kUnavailable, problem.message() + hint(problem));
  co_return std::move(*socket);
}

/// The host key types in the order to ask for. libssh2 alone would prefer ecdsa, and the server
/// would show another key than the expected one.
std::string host_key_order(const std::string& first) {
  constexpr std::array<std::string_view, 4> kOrder{"ssh-ed25519", "ecdsa-sha2-nistp256",
                                                   "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"};
  std::string out;
  if (std::ranges::find(kOrder, first) != kOrder.end()) out = first;
  for (const std::string_view type : kOrder)
    if (type != first) out.append(out.empty() ? "" : ",").append(type);
  return out;
}

void prefer_algorithms(LIBSSH2_SESSION* ssh, const std::string& key_type) {
  libssh2_session_method_pref(ssh, LIBSSH2_METHOD_HOSTKEY, host_key_order(key_type).c_str());
  libssh2_session_method_pref(ssh, LIBSSH2_METHOD_KEX,
                              "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,"
                              "ecdh-sha2-nistp384,ecdh-sha2-nistp521,diffie-hellman-group16-sha512,"
                              "diffie-hellman-group14-sha256");
  for (const int way : {LIBSSH2_METHOD_CRYPT_CS, LIBSSH2_METHOD_CRYPT_SC})
    libssh2_session_method_pref(ssh, way, "aes128-ctr,aes256-ctr,aes192-ctr");
  for (const int way : {LIBSSH2_METHOD_MAC_CS, LIBSSH2_METHOD_MAC_SC})
    libssh2_session_method_pref(ssh, way, "hmac-sha2-256,hmac-sha2-512");
}

asio::awaitable<Result<crypto::SshPublicKey>> exchange_keys(std::shared_ptr<Transport> transport,
                                                            Duration limit) {
  const Deadline deadline = std::chrono::steady_clock::now() + limit;
  int rc = 0;
  auto handshake = [&] {
    rc = libssh2_session_handshake(transport->ssh(), transport->descriptor());
    return rc != LIBSSH2_ERROR_EAGAIN;
  };
  const Waited waited = co_await transport->until(handshake, deadline);
  if (waited != Waited::kDone || rc != 0) {
    Error error = transport->error("key exchange", waited, limit);
    const std::string cause = transport->greeting().explain();
    if (!cause.empty()) error.message += "; " + cause;
    co_return tl::unexpected(std::move(error));
  }
  transport->key_exchanged();
  std::size_t size = 0;
  int type = 0;
  const char* const blob = libssh2_session_hostkey(transport->ssh(), &size, &type);
  co_return crypto::read_key_blob(blob != nullptr ? std::string_view(blob, size) : "");
}

Result<void> check_only_key(const ConnectRequest& request, const crypto::SshPublicKey& shown) {
  if (request.only_key.empty()) return {};
  const auto only = HOSTLER_TRY(crypto::parse_public_key(request.only_key));
  if (shown == only) return {};
  return fail(Errc::kUnavailable, address_text(request) + " shows the host key " +
                                      shown.fingerprint() + " in place of " + only.fingerprint() +
                                      ": nothing was sent to it");
}

asio::awaitable<Result<std::unique_ptr<Session>>> begin(std::shared_ptr<Transport> transport,
                                                        ConnectRequest request) {
  transport->keep(std::move(request.place));
  if (const auto only = crypto::parse_public_key(request.only_key)) request.key_type = only->type;
  prefer_algorithms(transport->ssh(), request.key_type);
  auto key = co_await exchange_keys(transport, request.key_exchange_limit);
  if (!key) co_return tl::unexpected(std::move(key).error());
  const auto accepted = check_only_key(request, *key);
  if (!accepted) co_return tl::unexpected(accepted.error());
  co_return std::make_unique<Session>(std::move(transport), std::move(*key));
}

}  // namespace

asio::awaitable<Result<std::unique_ptr<Session>>> Session::connect(ConnectRequest request) {
  const std::string address = address_text(request);
  auto endpoints = co_await resolve(request);
  if (!endpoints) co_return tl::unexpected(std::move(endpoints).error());
  Result<tcp::socket> socket = fail(Errc::kUnavailable, "the name has no address");
  for (const tcp::endpoint& endpoint : *endpoints) {
    socket = co_await connect_one(endpoint, request.connect_limit);
    if (socket) break;
  }
  if (!socket)
    co_return tl::unexpected(std::move(socket).error().with_context("connect to " + address));

  ByteStream::Socket stream(std::move(*socket));
  auto transport = std::make_shared<Transport>(std::move(stream), nullptr, address);
  auto session = co_await begin(std::move(transport), std::move(request));
  co_return session;
}

asio::awaitable<Result<std::unique_ptr<Session>>> Session::connect_through(
    std::unique_ptr<Tunnel> tunnel, ConnectRequest request) {
  const auto executor = co_await asio::this_coro::executor;
  UniqueFd fd = tunnel->take_socket();
  ByteStream::Socket socket(executor);
  boost::system::error_code problem;
  socket.assign(asio::generic::stream_protocol(AF_UNIX, 0), fd.get(), problem);
  if (problem) co_return fail(Errc::kUnavailable, "register a socket: " + problem.message());
  fd.release();
  const std::string address = address_text(request);
  auto transport = std::make_shared<Transport>(std::move(socket), std::move(tunnel), address);
  auto session = co_await begin(std::move(transport), std::move(request));
  co_return session;
}

}  // namespace hostler::ssh
