#include "addresses.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "fd.h"
#include "record.h"

namespace hostler::local {
namespace {

constexpr int kTriesMax = 64;

bool is_free(std::uint32_t address, std::int64_t port) {
  const driver::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  name.sin_addr.s_addr = htonl(address);
  return fd && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

std::string text_of(std::uint32_t address) {
  const in_addr name{htonl(address)};
  char text[INET_ADDRSTRLEN];
  return ::inet_ntop(AF_INET, &name, text, sizeof text);
}

}  // namespace

std::string free_address(const std::string& seed, std::int64_t port,
                         const std::set<std::string>& taken) {
  for (int i = 0; i < kTriesMax; ++i) {
    const auto hash = std::stoull(hash_of(seed + "#" + std::to_string(i)), nullptr, 16);
    // From 127.1.x.1 to 127.254.x.254. Leaves out 127.0.x.x, which people use by hand.
    const std::uint32_t address = 0x7f000000U | static_cast<std::uint32_t>(1 + hash % 254) << 16 |
                                  static_cast<std::uint32_t>((hash >> 16) % 256) << 8 |
                                  static_cast<std::uint32_t>(1 + (hash >> 32) % 254);
    std::string text = text_of(address);
    if (taken.count(text) == 0 && is_free(address, port)) return text;
  }
  return "";
}

}  // namespace hostler::local
