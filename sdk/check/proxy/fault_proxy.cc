#include "sdk/check/proxy/fault_proxy.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sdk/check/kit_descriptors.h"
#include "sdk/check/proxy/sockets.h"

namespace hostler::check {
namespace {

constexpr std::size_t kLinksMax = 64, kBufferMax = std::size_t{64} << 10U, kCutBytes = 30;
constexpr std::size_t kLinkBytesMax = std::size_t{64} << 20U;

}  // namespace

/// One connection through the proxy.
struct FaultProxy::Link {
  UniqueFd client, server;
  std::string to_server, to_client;
  Fault::Kind fault = Fault::Kind::kNone;  ///< Of the exchange that is going on.
  bool server_spoke = true;                ///< The next bytes of the client begin an exchange.
  bool ends_when_sent = false;
  std::size_t passed = 0, replied = 0;  ///< Bytes in all, and of this exchange's answer.
};

Result<std::unique_ptr<FaultProxy>> FaultProxy::start(const std::string& host,
                                                      const std::string& port) {
  std::uint16_t at = 0;
  UniqueFd listener = HOSTLER_TRY(listen_on_loopback(static_cast<int>(kLinksMax), at));
  UniqueFd wake = kit_copy(UniqueFd(::eventfd(0, EFD_CLOEXEC)));
  return std::unique_ptr<FaultProxy>(
      new FaultProxy(std::move(listener), std::move(wake), host, port, at));
}

FaultProxy::FaultProxy(UniqueFd listener, UniqueFd wake, std::string host, std::string host_port,
                       std::uint16_t port)
    : listener_(std::move(listener)),
      wake_(std::move(wake)),
      host_(std::move(host)),
      host_port_(std::move(host_port)),
      port_(port),
      thread_([this] { run(); }) {}

FaultProxy::~FaultProxy() {
  ends_ = true;
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void FaultProxy::arm(Fault fault) {
  const MutexLock lock(mutex_);
  fault_ = std::move(fault);
  exchanges_ = 0;
  has_happened_ = false;
}

Fault::Kind FaultProxy::begin_exchange() {
  const MutexLock lock(mutex_);
  const int number = exchanges_++;
  const bool happens = fault_.once ? number == fault_.first : number >= fault_.first;
  if (!happens || fault_.kind == Fault::Kind::kNone) return Fault::Kind::kNone;
  has_happened_ = true;
  return fault_.kind;
}

void FaultProxy::accept_one() {
  UniqueFd client = kit_copy(
      UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
  if (!client || links_.size() >= kLinksMax) return;
  UniqueFd server = connect_to(host_, host_port_);
  if (!server) return reset_at_close(client);
  auto& link = links_.emplace_back();
  link.client = std::move(client);
  link.server = std::move(server);
}

/// False: the connection is over.
bool FaultProxy::read_client(Link& link) {
  std::string bytes;
  const bool goes_on = receive(link.client, bytes);
  if (!bytes.empty() && std::exchange(link.server_spoke, false)) {
    link.fault = begin_exchange();
    link.replied = 0;
    if (link.fault == Fault::Kind::kReset) return reset_at_close(link.client), false;
    if (link.fault == Fault::Kind::kAnswer) {
      const MutexLock lock(mutex_);
      link.to_client = fault_.answer;
      link.ends_when_sent = true;
    }
  }
  link.passed += bytes.size();
  const bool is_kept = link.fault == Fault::Kind::kSilence || link.fault == Fault::Kind::kAnswer;
  if (!is_kept) link.to_server += bytes;
  return goes_on && link.passed < kLinkBytesMax;
}

bool FaultProxy::read_server(Link& link) {
  std::string bytes;
  const bool goes_on = receive(link.server, bytes);
  if (bytes.empty()) return goes_on;
  link.server_spoke = true;
  link.passed += bytes.size();
  if (link.fault == Fault::Kind::kLoseReply) return false;
  if (link.fault == Fault::Kind::kReplace) {
    const MutexLock lock(mutex_);
    if (!link.ends_when_sent) link.to_client = fault_.answer;
    link.ends_when_sent = true;
    return true;
  }
  if (link.fault == Fault::Kind::kCut) {
    bytes.resize(std::min(bytes.size(), kCutBytes - std::min(kCutBytes, link.replied)));
    link.replied += bytes.size();
    link.ends_when_sent = link.replied == kCutBytes;
  }
  link.to_client += bytes;
  if (!goes_on) link.ends_when_sent = true;
  return link.passed < kLinkBytesMax;
}

bool FaultProxy::write_out(Link& link) {
  if (!send_some(link.server, link.to_server) || !send_some(link.client, link.to_client))
    return false;
  return !link.ends_when_sent || !link.to_client.empty();
}

/// What poll() has seen on the two sides of the link. False: the connection is over.
bool FaultProxy::serve(Link& link, short client, short server) {
  constexpr short kReadable = POLLIN | POLLHUP | POLLERR;
  if ((client & kReadable) != 0 && !read_client(link)) return false;
  if ((server & kReadable) != 0 && !read_server(link)) {
    // What the cloud has said before it ended the connection still arrives.
    if (link.fault == Fault::Kind::kLoseReply || link.to_client.empty()) return false;
    link.ends_when_sent = true;
  }
  return write_out(link);
}

void FaultProxy::run() {
  while (!ends_) {
    std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    const auto events = [](const std::string& in, const std::string& out) {
      return static_cast<short>((in.size() < kBufferMax ? POLLIN : 0) |
                                (out.empty() ? 0 : POLLOUT));
    };
    for (const auto& link : links_) {
      polled.push_back({link.client.get(), events(link.to_server, link.to_client), 0});
      polled.push_back({link.server.get(), events(link.to_client, link.to_server), 0});
    }
    (void)::poll(polled.data(), polled.size(), -1);
    std::size_t at = 2;
    for (auto link = links_.begin(); link != links_.end(); at += 2) {
      const bool goes_on = serve(*link, polled[at].revents, polled[at + 1].revents);
      link = goes_on ? std::next(link) : links_.erase(link);
    }
    if ((polled[1].revents & POLLIN) != 0) accept_one();
  }
}

}  // namespace hostler::check
