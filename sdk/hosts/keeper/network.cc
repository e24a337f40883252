#include "sdk/hosts/keeper/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "sdk/hosts/machine/boot.h"
#include "sdk/hosts/protocol/request.h"
#include "sdk/hosts/system/failure.h"
#include "sdk/hosts/system/program.h"

namespace hostler::machines {
namespace {

/// The last number of the address that a keeper claims for itself.
constexpr const char* kClaim = "254";

driver::Fd bound_socket(const std::string& address, int port) {
  driver::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) fail_errno("make a socket");
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address.c_str(), &name.sin_addr);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    return driver::Fd();
  return fd;
}

}  // namespace

Network::Network(bool bridge, int port) : bridge_(bridge), port_(bridge ? 22 : port) {
  if (bridge)
    make_bridge();
  else
    take_addresses();
}

void Network::make_bridge() const {
  run_program({"ip", "-batch", "-"},
              "link set lo up\nlink add machines type bridge\nlink set machines up\n"
              "addr add " +
                  std::string(kBridgeAddresses) + "1/24 dev machines\n");
}

void Network::take_addresses() {
  constexpr unsigned kTries = 1000;
  const auto start = static_cast<unsigned>(::getpid());
  for (unsigned i = 0; i < kTries; ++i) {
    const unsigned number = (start + i) * 7919;
    prefix_ =
        "127." + std::to_string(64 + number / 256 % 128) + "." + std::to_string(number % 256) + ".";
    claim_ = bound_socket(prefix_ + kClaim, port_);
    if (claim_) return;
  }
  fail_errno("bind port " + std::to_string(port_) +
             " of 127/8, which another server may use on all addresses; choose another --port");
}

int Network::take() {
  for (int i = 0; i < kMachinesMax; ++i) {
    last_ = last_ % kMachinesMax + 1;
    if (used_.insert(last_).second) return last_;
  }
  throw Failure("limit", "all addresses are in use");
}

std::string Network::address(int number) const {
  return (bridge_ ? kBridgeAddresses : prefix_) + std::to_string(number + (bridge_ ? 1 : 0));
}

void Network::connect(int number, pid_t machine) {
  if (!bridge_) return;
  const std::string name = "m" + std::to_string(number);
  // Always the same for an address: who knows an old one reaches the new machine.
  std::array<char, 32> mac{};
  std::snprintf(mac.data(), mac.size(), "02:ec:10:77:00:%02x", static_cast<unsigned>(number));
  run_program({"ip", "-batch", "-"}, "link add " + name + " type veth peer name eth0 address " +
                                         mac.data() + " netns " + std::to_string(machine) +
                                         "\nlink set " + name + " master machines\nlink set " +
                                         name + " up\n");
}

void Network::disconnect(int number) const {
  if (!bridge_) return;
  try {
    run_program({"ip", "link", "del", "m" + std::to_string(number)}, "");
  } catch (const Failure&) {  // the kernel has removed it already
  }
}

}  // namespace hostler::machines
