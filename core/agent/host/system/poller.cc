#include "core/agent/host/system/poller.h"

#include <sys/epoll.h>

namespace hostler::agent {
namespace {

epoll_event event_of(int fd, std::uint32_t number, std::uint32_t events) {
  epoll_event out{};
  out.events = events;
  out.data.u64 = (std::uint64_t{number} << 32U) | static_cast<std::uint32_t>(fd);
  return out;
}

}  // namespace

Result<void> Poller::open() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return tl::unexpected(os_error("create an epoll instance"));
  return {};
}

void Poller::add(int fd, std::uint32_t tag, std::uint32_t events) {
  uses_[fd] = {tag, ++last_};
  epoll_event event = event_of(fd, last_, events);
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void Poller::change(int fd, std::uint32_t events) {
  epoll_event event = event_of(fd, uses_.at(fd).number, events);
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Poller::wait(int timeout_ms, const Handle& handle) {
  epoll_event events[64];
  const int count = ::epoll_wait(epoll_.get(), events, 64, timeout_ms);
  for (int i = 0; i < count; ++i) {
    const int fd = static_cast<int>(events[i].data.u64 & 0xffffffffU);
    const Use use = uses_.at(fd);
    // The handler of an earlier event may have closed this descriptor and opened another one with
    // the same number.
    if (use.number == events[i].data.u64 >> 32U) handle(use.tag, fd, events[i].events);
  }
}

}  // namespace hostler::agent
