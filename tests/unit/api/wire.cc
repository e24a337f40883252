#include "tests/unit/api/wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace hostler::api {
namespace {

int connected(int family, const sockaddr* address, socklen_t size) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{60, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(fd, address, size) != 0) std::abort();
  return fd;
}

}  // namespace

std::string Reply::member(const std::string& key) const {
  const auto document = json::Document::parse(body);
  return document ? std::string(document->root().at(key).text_or("")) : std::string();
}

Wire Wire::to_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return Wire(connected(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

Wire Wire::to_port(unsigned short port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return Wire(connected(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

bool Wire::send(const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

void Wire::finish_sending() { ::shutdown(fd_.get(), SHUT_WR); }

bool Wire::more() {
  std::array<char, 65536> piece{};
  const ssize_t n = ::recv(fd_.get(), piece.data(), piece.size(), 0);
  if (n > 0) read_.append(piece.data(), static_cast<std::size_t>(n));
  return n > 0;
}

std::string Wire::read_until(const std::string& mark) {
  std::size_t end = 0;
  while ((end = read_.find(mark)) == std::string::npos)
    if (!more()) return std::exchange(read_, {});
  std::string out = read_.substr(0, end + mark.size());
  read_.erase(0, end + mark.size());
  return out;
}

Reply Wire::read(bool has_body) {
  Reply out;
  const std::string head = read_until("\r\n\r\n");
  if (!head.starts_with("HTTP/1.1 ")) return out;
  out.status = std::atoi(head.c_str() + 9);
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const std::size_t end = head.find("\r\n", at);
    const std::string line = head.substr(at, end - at);
    at = end + 2;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    out.headers[name] = line.substr(colon + 2);
  }
  const std::size_t size =
      has_body ? std::strtoul(out.headers["content-length"].c_str(), nullptr, 10) : 0;
  while (read_.size() < size)
    if (!more()) break;
  out.body = read_.substr(0, size);
  read_.erase(0, size);
  return out;
}

bool Wire::is_over() { return read_.empty() && !more(); }

bool Wire::is_cut_off() {
  pollfd hangup{fd_.get(), 0, 0};
  return ::poll(&hangup, 1, 20'000) == 1;
}

Reply Wire::ask(const std::string& method, const std::string& target, const std::string& body,
                const std::string& headers) {
  std::string text = method + " " + target + " HTTP/1.1\r\nHost: hostler\r\n" + headers;
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  // What is refused early may not be read to its end: the answer counts.
  (void)send(text + "\r\n" + body);
  return read(method != "HEAD");
}

}  // namespace hostler::api
