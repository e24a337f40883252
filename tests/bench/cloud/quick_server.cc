#include "tests/bench/cloud/quick_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

namespace hostler::bench {
namespace {

/// `buffer` keeps what comes after the request. None: the connection has ended.
std::optional<QuickRequest> next_request(int connection, std::string& buffer) {
  const auto read_more = [&] {
    std::array<char, 16384> bytes{};
    const auto n = ::recv(connection, bytes.data(), bytes.size(), 0);
    if (n > 0) buffer.append(bytes.data(), static_cast<std::size_t>(n));
    return n > 0;
  };
  std::size_t end = 0;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos)
    if (!read_more()) return {};
  QuickRequest out;
  out.head = buffer.substr(0, end + 4);
  const std::size_t length_at = out.head.find("Content-Length: ");
  const std::size_t length = length_at == std::string::npos
                                 ? 0
                                 : std::strtoul(out.head.c_str() + length_at + 16, nullptr, 10);
  while (buffer.size() < out.head.size() + length)
    if (!read_more()) return {};
  out.body = buffer.substr(out.head.size(), length);
  buffer.erase(0, out.head.size() + length);
  return out;
}

bool send_all(int connection, const std::string& all) {
  for (std::size_t at = 0; at < all.size();) {
    const auto n = ::send(connection, all.data() + at, all.size() - at, MSG_NOSIGNAL);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

QuickServer::QuickServer(On on, Answer answer) : answer_(std::move(answer)) {
  if (on == On::kUnixSocket) listen_on_socket();
  if (on == On::kLoopback) listen_on_loopback();
  if (::listen(listener_, 128) != 0) throw std::runtime_error("no socket");
  acceptor_ = std::thread([this] { accept_all(); });
}

void QuickServer::listen_on_socket() {
  std::string name = "/tmp/hostler-quick-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
  folder_ = name;
  path_ = folder_ + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("no socket");
}

void QuickServer::listen_on_loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no port");
  port_ = ntohs(address.sin_port);
}

QuickServer::~QuickServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  {
    const std::lock_guard lock(mutex_);
    for (const int one : open_) ::shutdown(one, SHUT_RDWR);
  }
  while (serving_ != 0) std::this_thread::yield();
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

void QuickServer::accept_all() {
  for (;;) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    const int yes = 1;
    if (port_ != 0) ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    {
      const std::lock_guard lock(mutex_);
      open_.push_back(connection);
    }
    ++serving_;
    std::thread([this, connection] { serve(connection); }).detach();
  }
}

void QuickServer::serve(int connection) {
  std::string buffer;
  while (const auto request = next_request(connection, buffer))
    if (!send_all(connection, *answer_(*request))) break;
  {
    const std::lock_guard lock(mutex_);
    open_.remove(connection);
    ::close(connection);
  }
  --serving_;
}

std::string http_answer(const std::string& status, const std::string& type,
                        const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace hostler::bench
