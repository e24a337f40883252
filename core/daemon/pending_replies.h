#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/dispatch/effects.h"

namespace hostler::daemon {

/// Requests that wait for the loop's answer. Any thread; the answer is called on the thread that
/// gives it.
class PendingReplies {
 public:
  using Answer = std::function<void(Result<std::vector<model::WorkId>>)>;

  /// Returns the ticket that the request gets, by which the loop answers. None while all requests
  /// are refused: this one has been answered then, and must not reach the loop.
  std::optional<dispatch::Ticket> add(Answer answer) {
    MutexLock lock(mutex_);
    if (refused_) {
      const Error why = *refused_;
      lock.unlock();
      answer(tl::unexpected(why));
      return std::nullopt;
    }
    waiting_.emplace(++last_, std::move(answer));
    return last_;
  }

  void answer(dispatch::Reply reply) {
    Answer found;
    {
      const MutexLock lock(mutex_);
      const auto at = waiting_.find(reply.ticket);
      if (at == waiting_.end()) return;
      found = std::move(at->second);
      waiting_.erase(at);
    }
    found(std::move(reply.result));
  }

  /// The daemon stops, or its store does not commit. Answers all requests that wait with `waiting`,
  /// which says whether they may still take effect, and new ones with `coming` until accept_all().
  void refuse_all(const Error& waiting, Error coming) {
    std::unordered_map<dispatch::Ticket, Answer> all;
    {
      const MutexLock lock(mutex_);
      refused_ = std::move(coming);
      all.swap(waiting_);
    }
    for (auto& [ticket, answer] : all) answer(tl::unexpected(waiting));
  }

  void accept_all() {
    const MutexLock lock(mutex_);
    refused_.reset();
  }

 private:
  Mutex mutex_;
  std::optional<Error> refused_ HOSTLER_GUARDED_BY(mutex_);
  dispatch::Ticket last_ HOSTLER_GUARDED_BY(mutex_) = 0;
  std::unordered_map<dispatch::Ticket, Answer> waiting_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::daemon
