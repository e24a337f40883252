#include "core/api/push_queue.h"

#include <algorithm>
#include <utility>

namespace hostler::api {

void PushQueue::add(Service& service, const Principal& who, const std::string& pool,
                    model::Push push, Answer<model::PushAnswer> answer) {
  Waiting fresh{who, std::move(push), std::move(answer)};
  MutexLock lock(mutex_);
  const auto [its, none_runs] = waiting_.try_emplace(pool);
  if (none_runs) {
    lock.unlock();
    return run(service, pool, std::move(fresh));
  }
  const auto same = [&](const Waiting& one) { return one.who.name == who.name; };
  const auto earlier = std::ranges::find_if(its->second, same);
  if (earlier == its->second.end()) {
    its->second.push_back(std::move(fresh));
    return;
  }
  // One that was under way for long may come after one that was sent later.
  const bool is_newer =
      fresh.push.session != earlier->push.session || fresh.push.sequence > earlier->push.sequence;
  if (is_newer) std::swap(*earlier, fresh);
  lock.unlock();
  fresh.answer(fail(Errc::kConflict,
                    "a newer push for the pool came before this one was handled: it has had no "
                    "effect; send one push at a time"));
}

void PushQueue::run(Service& service, const std::string& pool, Waiting one) {
  service.push(one.who, pool, std::move(one.push),
               [queue = shared_from_this(), &service, pool,
                answer = std::move(one.answer)](Result<model::PushAnswer> result) {
                 answer(std::move(result));
                 queue->go_on(service, pool);
               });
}

void PushQueue::go_on(Service& service, const std::string& pool) {
  MutexLock lock(mutex_);
  const auto its = waiting_.find(pool);
  if (its->second.empty()) {
    waiting_.erase(its);
    return;
  }
  Waiting next = std::move(its->second.front());
  its->second.pop_front();
  lock.unlock();
  run(service, pool, std::move(next));
}

}  // namespace hostler::api
