#include "core/api/turns.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/async/await_callback.h"

namespace hostler::api {
namespace {

constexpr int kFreePart = 50;  ///< Of a thread's time: who uses less waits for no other.
constexpr Duration kYieldMax = std::chrono::seconds(2);

std::size_t index(Turns::Kind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

Turns::Turn::Turn(std::shared_ptr<Turns> turns, Asker asker)
    : turns_(std::move(turns)), asker_(std::move(asker)), began_(turns_->clock_()) {}

Turns::Turn::~Turn() {
  if (turns_ != nullptr) turns_->end(asker_, began_);
}

void Turns::ask(Asker asker, Start start) {
  MutexLock lock(mutex_);
  if (stopped_) return;
  unsigned& free = free_[index(asker.kind)];
  if (free == 0) {
    const Duration deadline = std::max(clock_(), asker.connection->until);
    waiting_.push_back({std::move(asker), deadline, std::move(start)});
    return;
  }
  --free;
  lock.unlock();
  start(std::make_shared<Turn>(shared_from_this(), std::move(asker)));
}

void Turns::end(const Asker& asker, Duration began) {
  MutexLock lock(mutex_);
  const Duration now = clock_();
  Duration& until = asker.connection->until;
  until = std::min(std::max(until, began) + kFreePart * (now - began), now + kYieldMax);
  asker.source->until = now;
  auto next = waiting_.end();
  const auto key = [](const Waiting& one) {
    return std::tuple(one.asker.source->until, one.deadline);
  };
  for (auto one = waiting_.begin(); one != waiting_.end(); ++one)
    if (one->asker.kind == asker.kind && (next == waiting_.end() || key(*one) < key(*next)))
      next = one;
  if (next == waiting_.end()) {
    ++free_[index(asker.kind)];
    return;
  }
  Waiting chosen = std::move(*next);
  waiting_.erase(next);
  lock.unlock();
  chosen.start(std::make_shared<Turn>(shared_from_this(), std::move(chosen.asker)));
}

void Turns::stop() {
  std::list<Waiting> forgotten;  // Destroyed without the lock: what they hold may end turns.
  const MutexLock lock(mutex_);
  stopped_ = true;
  forgotten.swap(waiting_);
}

boost::asio::awaitable<std::shared_ptr<Turns::Turn>> Client::take_turn(Turns::Kind kind) const {
  auto ask = [turns = turns, asker = Turns::Asker{kind, source, connection}](auto start) mutable {
    turns->ask(std::move(asker), std::move(start));
  };
  return async::await_callback<std::shared_ptr<Turns::Turn>>(std::move(ask));
}

}  // namespace hostler::api
