#include "tests/support/fake_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace hostler::test {
namespace {

void need(bool truth) {
  if (!truth) throw std::runtime_error("the fake HTTP server cannot start");
}

/// One whole request; less if the client goes before.
std::string read_request(int connection) {
  std::string request;
  std::array<char, 4096> block{};
  std::size_t wanted = std::string::npos;
  while (wanted == std::string::npos || request.size() < wanted) {
    const ssize_t n = ::recv(connection, block.data(), block.size(), 0);
    if (n <= 0) return request;
    request.append(block.data(), static_cast<std::size_t>(n));
    const std::size_t head = request.find("\r\n\r\n");
    if (head == std::string::npos) continue;
    const std::size_t length = request.find("Content-Length: ");
    wanted = head + 4;
    if (length < head) wanted += std::strtoul(request.c_str() + length + 16, nullptr, 10);
  }
  return request;
}

bool send_all(int connection, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::send(connection, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

FakeHttp::FakeHttp(Handler handler)
    : handler_(std::move(handler)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  need(::bind(listener_.get(), any, size) == 0 && ::listen(listener_.get(), 1024) == 0);
  need(::getsockname(listener_.get(), any, &size) == 0);
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { accept_all(); });
}

FakeHttp::~FakeHttp() {
  (void)(::eventfd_write(stop_.get(), 1) == 0);
  accepting_.join();
  for (std::thread& thread : threads_) thread.join();
}

std::string FakeHttp::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

std::vector<std::string> FakeHttp::requests() {
  const MutexLock lock(mutex_);
  return requests_;
}

void FakeHttp::wait_for_requests(std::size_t count) {
  const MutexLock lock(mutex_);
  come_.wait(mutex_, [&]() HOSTLER_REQUIRES(mutex_) { return requests_.size() >= count; });
}

void FakeHttp::accept_all() {
  for (;;) {
    std::array<pollfd, 2> watched{pollfd{listener_.get(), POLLIN, 0},
                                  pollfd{stop_.get(), POLLIN, 0}};
    (void)::poll(watched.data(), watched.size(), -1);
    if (watched[1].revents != 0) return;
    const int connection = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) threads_.emplace_back([this, connection] { serve(connection); });
  }
}

void FakeHttp::serve(int number) {
  const UniqueFd connection(number);
  std::array<pollfd, 2> watched{pollfd{number, POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
  (void)::poll(watched.data(), watched.size(), -1);
  if (watched[1].revents != 0) return;
  const std::string request = read_request(number);
  {
    const MutexLock lock(mutex_);
    requests_.push_back(request);
  }
  come_.notify_all();
  const Reply reply = handler_(request);
  if (send_all(number, reply.bytes)) go_on(number, reply);
}

void FakeHttp::go_on(int connection, const Reply& reply) {
  using Then = Reply::Then;
  if (reply.then == Then::kClose) return;
  for (std::size_t at = 0;; at = (at + 1) % reply.more.size()) {
    std::array<pollfd, 2> watched{pollfd{connection, POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
    const int ms = reply.then == Then::kFlood ? 0 : reply.then == Then::kTrickle ? 1 : -1;
    if (::poll(watched.data(), watched.size(), ms) != 0) return;
    const std::string piece =
        reply.then == Then::kFlood ? reply.more : std::string(1, reply.more[at]);
    if (!send_all(connection, piece)) return;
  }
}

FakeHttp::Reply http_reply(const std::string& body, const std::string& status,
                           const std::string& header) {
  return {"HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\nConnection: close\r\n" + header + "\r\n" + body,
          FakeHttp::Reply::Then::kClose, "x"};
}

}  // namespace hostler::test
