#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "core/agent/host/system/os.h"

namespace hostler::agent {

/// An epoll instance. A descriptor leaves it when it is closed. Events of a closed descriptor are
/// not taken for events of a new descriptor with the same number.
class Poller {
 public:
  Result<void> open();

  /// Watches `fd` for `events` (see <sys/epoll.h>). `tag` is passed to the handler with each event.
  void add(int fd, std::uint32_t tag, std::uint32_t events);
  void change(int fd, std::uint32_t events);

  using Handle = std::function<void(std::uint32_t tag, int fd, std::uint32_t events)>;
  /// Blocks until there are events or `timeout_ms` have passed (-1: no limit), and calls `handle`
  /// for each event. A handler may add and close descriptors.
  void wait(int timeout_ms, const Handle& handle);

 private:
  struct Use {
    std::uint32_t tag;
    std::uint32_t number;  ///< Distinguishes uses of the same descriptor number.
  };

  UniqueFd epoll_;
  std::map<int, Use> uses_;  ///< Key: descriptor. Includes descriptors that have been closed.
  std::uint32_t last_ = 0;   ///< The last Use::number.
};

}  // namespace hostler::agent
