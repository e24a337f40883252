#include "core/api/server.h"

#include <grp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "core/api/reply.h"
#include "core/api/session.h"
#include "core/api/tls.h"
#include "core/log/log.h"

namespace hostler::api {
namespace {

using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

/// One for each that has a turn, and one that always reads and writes.
constexpr unsigned kThreads = std::accumulate(Turns::kPlaces.begin(), Turns::kPlaces.end(), 1U);
constexpr std::size_t kSocketPathMax = sizeof(sockaddr_un::sun_path) - 1;

/// Whether a process listens on this socket file.
bool is_served(const std::string& path) {
  asio::io_context io;
  asio::local::stream_protocol::socket probe(io);
  boost::system::error_code problem;
  probe.connect(asio::local::stream_protocol::endpoint(path), problem);
  return !problem;
}

Wall wall_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

/// What counts as one address: of IPv6 its network, because one client has all of it.
std::string network_of(asio::ip::address address) {
  if (address.is_v4()) return address.to_string();
  auto v6 = address.to_v6();
  if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
  auto bytes = v6.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
  return asio::ip::address_v6(bytes).to_string();
}

/// The kind of a connection, and the user or the address that it comes from.
std::pair<Connections::Kind, std::string> source_of(PlainSocket& socket) {
  using Kind = Connections::Kind;
  boost::system::error_code gone;
  if (socket.local_endpoint(gone).protocol().family() == AF_UNIX) {
    ucred user{};
    socklen_t size = sizeof user;
    if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &user, &size) != 0)
      return {Kind::kUser, "unknown"};
    return {is_admin(user.uid) ? Kind::kAdmin : Kind::kUser, std::to_string(user.uid)};
  }
  const auto peer = socket.remote_endpoint(gone);
  asio::ip::tcp::endpoint tcp;
  if (gone || peer.size() > tcp.capacity()) return {Kind::kTcp, "unknown"};
  std::memcpy(tcp.data(), peer.data(), peer.size());
  tcp.resize(peer.size());
  return {Kind::kTcp, network_of(tcp.address())};
}

class SocketServer final : public Server {
 public:
  SocketServer(ServerOptions options, std::vector<Token> tokens, std::shared_ptr<Site> site)
      : options_(std::move(options)),
        access_(std::move(tokens)),
        site_(std::move(site)),
        connections_(std::make_shared<Connections>(options_.connections)) {}

  ~SocketServer() override { stop(); }

  Result<void> open() {
    if (!options_.unix_socket.empty()) HOSTLER_TRY(open_unix());
    if (!options_.tcp_address.empty()) HOSTLER_TRY(open_tcp());
    return {};
  }

  void start() override {
    for (auto& listening : acceptors_) asio::co_spawn(io_, accept(listening), asio::detached);
    if (certificate_end()) asio::co_spawn(io_, announce_expiry(), asio::detached);
    for (unsigned i = 0; i < kThreads; ++i)
      threads_.emplace_back([this] {
        pthread_setname_np(pthread_self(), "api");
        io_.run();
      });
  }

  void stop() override {
    io_.stop();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    turns_->stop();
    boost::system::error_code ignored;
    for (auto& listening : acceptors_) listening.acceptor->close(ignored);
    if (std::exchange(owns_socket_file_, false)) ::unlink(options_.unix_socket.c_str());
  }

  void set_bounds(Connections::Bounds bounds) override { connections_->set_bounds(bounds); }
  void set_tokens(std::vector<Token> tokens) override { access_.set_tokens(std::move(tokens)); }

  Result<void> reload_certificate() override {
    return certificate_end() ? tls_.load(wall_now()) : Result<void>();
  }

  std::optional<Wall> certificate_end() const override {
    if (tls_.context() == nullptr) return std::nullopt;
    return tls_.end();
  }

  std::uint16_t tcp_port() const override { return port_; }

 private:
  struct Listening {
    std::unique_ptr<Acceptor> acceptor;
    bool secure = false;
  };

  Result<void> open_unix() {
    const std::string& path = options_.unix_socket;
    std::error_code ignored;
    if (std::filesystem::is_socket(path, ignored)) {
      if (is_served(path))
        return fail(Errc::kConflict, "listen on " + path + ": another daemon answers there");
      ::unlink(path.c_str());
    }
    if (path.size() > kSocketPathMax)
      return fail(Errc::kInvalidArgument, "listen on " + path + ": a socket's path has at most " +
                                              std::to_string(kSocketPathMax) + " bytes");
    std::filesystem::create_directory(std::filesystem::path(path).parent_path(), ignored);
    const asio::local::stream_protocol::endpoint endpoint(path);
    HOSTLER_TRY(add(endpoint, asio::local::stream_protocol(), path, false));
    owns_socket_file_ = true;
    if (::chmod(path.c_str(), options_.unix_mode) != 0)
      return tl::unexpected(errno_error("chmod " + path));
    if (!options_.unix_group.empty()) {
      const group* entry = getgrnam(options_.unix_group.c_str());
      if (entry == nullptr || ::chown(path.c_str(), static_cast<uid_t>(-1), entry->gr_gid) != 0)
        log::warn("api", "cannot give " + path + " to group " + options_.unix_group +
                             "; only its owner may use it");
    }
    return {};
  }

  Result<void> open_tcp() {
    boost::system::error_code problem;
    const auto address = asio::ip::make_address(options_.tcp_address, problem);
    const std::string name = options_.tcp_address + ":" + std::to_string(options_.tcp_port);
    if (problem)
      return fail(Errc::kInvalidArgument, "'" + options_.tcp_address + "' is no address");
    const bool secure = !options_.tls_certificate.empty();
    if (!secure && !address.is_loopback())
      return fail(Errc::kInvalidArgument,
                  "listen on " + name + ": beyond loopback only with TLS (certificate and key)");
    if (secure) HOSTLER_TRY(tls_.load(wall_now()));
    const asio::ip::tcp::endpoint endpoint(address, options_.tcp_port);
    HOSTLER_TRY(add(endpoint, endpoint.protocol(), name, secure));
    const auto bound = acceptors_.back().acceptor->local_endpoint();
    asio::ip::tcp::endpoint tcp;
    std::memcpy(tcp.data(), bound.data(), std::min(bound.size(), tcp.capacity()));
    tcp.resize(bound.size());
    port_ = tcp.port();
    return {};
  }

  template <class Endpoint, class Protocol>
  Result<void> add(const Endpoint& endpoint, const Protocol& protocol, const std::string& name,
                   bool secure) {
    boost::system::error_code problem;
    auto acceptor = std::make_unique<Acceptor>(io_);
    acceptor->open(asio::generic::stream_protocol(protocol), problem);
    if (!problem) acceptor->set_option(asio::socket_base::reuse_address(true), problem);
    if (!problem) acceptor->bind(asio::generic::stream_protocol::endpoint(endpoint), problem);
    if (!problem) acceptor->listen(asio::socket_base::max_listen_connections, problem);
    if (problem) return fail(Errc::kUnavailable, "listen on " + name + ": " + problem.message());
    ::fcntl(acceptor->native_handle(), F_SETFD, FD_CLOEXEC);
    acceptors_.push_back({std::move(acceptor), secure});
    return {};
  }

  /// Logs once a day while the certificate is near its end; Tls::load() does when it is read.
  asio::awaitable<void> announce_expiry() {
    asio::steady_timer pause(io_);
    for (;;) {
      boost::system::error_code ignored;
      pause.expires_after(std::chrono::hours(24));
      auto wait = asio::redirect_error(asio::use_awaitable, ignored);
      co_await pause.async_wait(std::move(wait));
      if (const auto problem = expiry_problem(tls_.end(), wall_now()))
        log::warn("api", "the TLS certificate " + options_.tls_certificate + " " + *problem);
    }
  }

  /// Says so, as far as the client takes it at once, and once a minute in the log.
  void refuse(PlainSocket& socket, bool secure) {
    static const std::string answer = whole_text(error_response(
        {Errc::kUnavailable, "too many connections are open: close some, or try again later"}));
    if (!secure)
      (void)::send(socket.native_handle(), answer.data(), answer.size(),
                   MSG_DONTWAIT | MSG_NOSIGNAL);
    constexpr auto kQuiet = std::chrono::minutes(1);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    auto last = refusal_told_.load();
    if ((last == Duration{} || now - last >= kQuiet) &&
        refusal_told_.compare_exchange_strong(last, now))
      log::warn("api", "too many connections are open: more are refused");
  }

  asio::awaitable<void> accept(Listening& listening) {
    asio::steady_timer pause(io_);
    for (;;) {
      boost::system::error_code problem;
      auto strand = asio::make_strand(io_);
      auto token = asio::redirect_error(asio::use_awaitable, problem);
      PlainSocket socket = co_await listening.acceptor->async_accept(strand, std::move(token));
      if (problem) {
        // Mostly there are no free descriptors: wait until some are closed.
        pause.expires_after(std::chrono::milliseconds(100));
        auto wait = asio::redirect_error(asio::use_awaitable, problem);
        co_await pause.async_wait(std::move(wait));
        continue;
      }
      ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
      const auto [kind, source] = source_of(socket);
      auto place = connections_->take(kind, source);
      if (place == nullptr) {
        refuse(socket, listening.secure);
        continue;  // Closed at once.
      }
      SessionContext context{site_.get(),
                             &access_,
                             listening.secure ? tls_.context() : nullptr,
                             std::move(place),
                             options_.deadlines,
                             bodies_,
                             answers_,
                             turns_};
      auto session = serve(std::move(socket), std::move(context));
      asio::co_spawn(strand, std::move(session), asio::detached);
    }
  }

  const ServerOptions options_;
  Tls tls_{options_.tls_certificate, options_.tls_key};
  Access access_;
  const std::shared_ptr<Site> site_;
  const std::shared_ptr<Connections> connections_;
  const std::shared_ptr<Turns> turns_ =
      std::make_shared<Turns>([] { return std::chrono::steady_clock::now().time_since_epoch(); });
  asio::io_context io_;
  std::vector<Listening> acceptors_;
  std::vector<std::thread> threads_;
  const MemoryCount bodies_ = std::make_shared<std::atomic<std::uint64_t>>(0),
                    answers_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::atomic<Duration> refusal_told_{Duration{}};
  std::uint16_t port_ = 0;
  bool owns_socket_file_ = false;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options,
                                               std::vector<Token> tokens,
                                               std::shared_ptr<Site> site) {
  auto server = std::make_unique<SocketServer>(options, std::move(tokens), std::move(site));
  HOSTLER_TRY(server->open());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace hostler::api
