#include "sdk/check/proxy/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "sdk/check/kit_descriptors.h"

namespace hostler::check {

Result<UniqueFd> listen_on_loopback(int backlog, std::uint16_t& port) {
  UniqueFd listener = kit_copy(UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (!listener ||
      ::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), backlog) != 0 ||
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return tl::unexpected(errno_error("listen for the fault proxy"));
  port = ntohs(address.sin_port);
  return listener;
}

UniqueFd connect_to(const std::string& host, const std::string& port) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return {};
  UniqueFd out;
  for (const addrinfo* one = found; one != nullptr && !out; one = one->ai_next) {
    UniqueFd fd(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd && ::connect(fd.get(), one->ai_addr, one->ai_addrlen) == 0) out = kit_copy(fd);
  }
  ::freeaddrinfo(found);
  if (out) (void)::fcntl(out.get(), F_SETFL, O_NONBLOCK);
  return out;
}

void reset_at_close(const UniqueFd& fd) {
  const linger now{1, 0};
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

bool receive(const UniqueFd& fd, std::string& to) {
  std::array<char, 16384> block{};
  const ssize_t n = ::recv(fd.get(), block.data(), block.size(), MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  to.append(block.data(), static_cast<std::size_t>(n));
  return n > 0;
}

bool send_some(const UniqueFd& fd, std::string& from) {
  if (from.empty()) return true;
  const ssize_t n = ::send(fd.get(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  from.erase(0, static_cast<std::size_t>(n));
  return true;
}

}  // namespace hostler::check
