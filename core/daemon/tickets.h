#pragma once

#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/dispatch/events.h"

namespace hostler::daemon {

/// Requests that wait for the loop's answer. Any thread.
class Tickets {
 public:
  using Answer = std::function<void(Result<std::vector<model::JobId>>)>;

  dispatch::Ticket add(Answer answer) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(++last_, std::move(answer));
    return last_;
  }

  void answer(dispatch::Reply reply) {
    Answer found;
    {
      const std::lock_guard lock(mutex_);
      const auto at = waiting_.find(reply.ticket);
      if (at == waiting_.end()) return;
      found = std::move(at->second);
      waiting_.erase(at);
    }
    found(std::move(reply.result));
  }

  /// The daemon stops, or its store does not commit: everyone who waits is told so, and whether it
  /// may take effect yet.
  void fail_all(const Error& error) {
    std::unordered_map<dispatch::Ticket, Answer> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(waiting_);
    }
    for (auto& [ticket, answer] : all) answer(tl::unexpected(error));
  }

 private:
  std::mutex mutex_;
  dispatch::Ticket last_ = 0;                             ///< Guarded by mutex_.
  std::unordered_map<dispatch::Ticket, Answer> waiting_;  ///< Guarded by mutex_.
};

}  // namespace hostler::daemon
