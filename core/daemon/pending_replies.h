#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/assert.h"
#include "core/base/mutex.h"
#include "core/dispatch/effects.h"

namespace hostler::daemon {

/// Requests that wait for the loop's answer. Any thread; the answer is called on the thread that
/// gives it.
class PendingReplies {
 public:
  using Answer = std::function<void(Result<std::vector<model::WorkId>>)>;
  using PushAnswer = std::function<void(Result<model::PushAnswer>)>;
  /// What a request waits for depends on its kind.
  using Waiting = std::variant<Answer, PushAnswer>;

  /// Returns the ticket that the request gets, by which the loop answers. None while all requests
  /// are refused: this one has been answered then, and must not reach the loop.
  std::optional<dispatch::Ticket> add(Waiting answer) {
    MutexLock lock(mutex_);
    if (refused_) {
      const Error why = *refused_;
      lock.unlock();
      refuse(answer, why);
      return std::nullopt;
    }
    waiting_.emplace(++last_, std::move(answer));
    return last_;
  }

  void answer(dispatch::Reply reply) { answer_as<Answer>(std::move(reply)); }
  void answer(dispatch::PushReply reply) { answer_as<PushAnswer>(std::move(reply)); }

  /// The daemon stops, or its store does not commit. Answers all requests that wait with `waiting`,
  /// which says whether they may still take effect, and new ones with `coming` until accept_all().
  void refuse_all(const Error& waiting, Error coming) {
    std::unordered_map<dispatch::Ticket, Waiting> all;
    {
      const MutexLock lock(mutex_);
      refused_ = std::move(coming);
      all.swap(waiting_);
    }
    for (const auto& [ticket, answer] : all) refuse(answer, waiting);
  }

  void accept_all() {
    const MutexLock lock(mutex_);
    refused_.reset();
  }

 private:
  static void refuse(const Waiting& answer, const Error& why) {
    if (const auto* ids = std::get_if<Answer>(&answer)) (*ids)(tl::unexpected(why));
    if (const auto* push = std::get_if<PushAnswer>(&answer)) (*push)(tl::unexpected(why));
  }
  template <class Kind, class Reply>
  void answer_as(Reply reply) {
    Kind found;
    {
      const MutexLock lock(mutex_);
      const auto at = waiting_.find(reply.ticket);
      if (at == waiting_.end()) return;
      auto* its = std::get_if<Kind>(&at->second);
      HOSTLER_ASSERT(its != nullptr, "a request is answered with what it waits for");
      found = std::move(*its);
      waiting_.erase(at);
    }
    found(std::move(reply.result));
  }

  Mutex mutex_;
  std::optional<Error> refused_ HOSTLER_GUARDED_BY(mutex_);
  dispatch::Ticket last_ HOSTLER_GUARDED_BY(mutex_) = 0;
  std::unordered_map<dispatch::Ticket, Waiting> waiting_ HOSTLER_GUARDED_BY(mutex_);
};

}  // namespace hostler::daemon
