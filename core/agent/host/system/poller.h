#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "core/agent/host/system/os.h"

namespace hostler::agent {

/// An epoll whose events are of the descriptor that was added, also when one of the same number was
/// closed in between. Closing a descriptor takes it out.
class Poller {
 public:
  Result<void> open();

  /// `tag` comes back with each of its events (those of <sys/epoll.h>).
  void add(int fd, std::uint32_t tag, std::uint32_t events);
  void change(int fd, std::uint32_t events);

  using Handle = std::function<void(std::uint32_t tag, int fd, std::uint32_t events)>;
  /// Waits for events and hands over each; -1 ms: for as long as it takes. A handler may add and
  /// close descriptors.
  void wait(int timeout_ms, const Handle& handle);

 private:
  struct Use {
    std::uint32_t tag;
    std::uint32_t number;  ///< Of this use of the descriptor.
  };

  UniqueFd epoll_;
  std::map<int, Use> uses_;  ///< By descriptor: also such as are closed by now.
  std::uint32_t last_ = 0;
};

}  // namespace hostler::agent
