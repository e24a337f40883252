#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>
#include <vector>

#include "core/base/files.h"

namespace hostler::test {

/// A port of loopback at which nothing answers: its queue of connections is full, so the kernel
/// drops further ones, as a firewall does.
class SilentPort {
 public:
  SilentPort() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    if (::bind(listener_.get(), address, size) != 0 || ::listen(listener_.get(), 0) != 0 ||
        ::getsockname(listener_.get(), address, &size) != 0)
      throw std::runtime_error("no silent port");
    port_ = ntohs(at.sin_port);
    for (int i = 0; i < 3; ++i) {
      const int flags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
      fillers_.emplace_back(::socket(AF_INET, flags, 0));
      (void)::connect(fillers_.back().get(), address, size);
    }
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  UniqueFd listener_;
  std::vector<UniqueFd> fillers_;
  std::uint16_t port_ = 0;
};

}  // namespace hostler::test
