#include "core/daemon/loop.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/dispatch/immediate_effects.h"

namespace hostler::daemon {
namespace {

/// Changes that no effect waits for are held back so long: others may share their commit.
constexpr Duration kChangesWait = std::chrono::milliseconds(20);

/// After so much time of queries the events that came meanwhile go on.
constexpr Duration kQueriesTurn = std::chrono::milliseconds(10);

void append(dispatch::Outbox& to, dispatch::Outbox from) {
  const auto move_all = [](auto& target, auto& source) {
    if (target.empty()) {
      target = std::move(source);
      return;
    }
    target.insert(target.end(), std::make_move_iterator(source.begin()),
                  std::make_move_iterator(source.end()));
  };
  move_all(to.changes, from.changes);
  move_all(to.effects, from.effects);
  move_all(to.bodies_wanted, from.bodies_wanted);
}

template <class... Kinds>
bool is_any_of(const dispatch::Event& event) {
  return (std::holds_alternative<Kinds>(event) || ...);
}

metrics::LoopWork work_of(const dispatch::Event& event) {
  using namespace dispatch;
  if (is_any_of<model::HostEvent>(event)) return metrics::LoopWork::kHost;
  if (is_any_of<Submit, SubmitLease, ReturnLease, RenewLease, CancelWork, ReleaseWork, CancelHeld,
                SetIdleBehavior, KillInstance, ReportReady, OpenGate, AcceptAccount, BelieveList,
                GiveUpUnreachable>(event))
    return metrics::LoopWork::kRequest;
  if (is_any_of<PlanMade>(event)) return metrics::LoopWork::kPlan;
  if (is_any_of<PolicyChanged, WorkForgotten>(event)) return metrics::LoopWork::kUpkeep;
  return metrics::LoopWork::kCloud;
}

constexpr std::size_t kNoticesOfEvent = 1000;  ///< A longer event would hold up the loop.

/// Thousands of notices may come at once, one by one: those that wait become one event. True: the
/// item is a part of the last one now.
template <class Item>
bool joins(Item& last, Item& item) {
  auto* before = std::get_if<dispatch::Event>(&last);
  auto* event = std::get_if<dispatch::Event>(&item);
  auto* to = before == nullptr ? nullptr : std::get_if<dispatch::NoticesSeen>(before);
  auto* from = event == nullptr ? nullptr : std::get_if<dispatch::NoticesSeen>(event);
  if (to == nullptr || from == nullptr || to->set != from->set || to->number != from->number ||
      to->notices.size() >= kNoticesOfEvent)
    return false;
  to->notices.insert(to->notices.end(), std::make_move_iterator(from->notices.begin()),
                     std::make_move_iterator(from->notices.end()));
  return true;
}

}  // namespace

Loop::Loop(dispatch::Dispatcher dispatcher, metrics::Metrics& metrics, Sinks sinks)
    : dispatcher_(std::move(dispatcher)), metrics_(metrics), sinks_(std::move(sinks)) {}

Loop::~Loop() { stop(); }

void Loop::start(model::Restored restored, bool only_shown) {
  only_shown_ = only_shown;
  dispatch::Outbox first = dispatcher_.restore(std::move(restored), read_clocks());
  if (!only_shown) flush(first);
  thread_ = std::thread([this] { run(); });
}

void Loop::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  if (thread_.joinable()) thread_.join();
}

dispatch::Queries Loop::final_state() const {
  HOSTLER_ASSERT(!thread_.joinable(), "while the loop runs, only its own thread sees the state");
  return dispatcher_.queries();
}

void Loop::add(Item item) {
  bool was_empty = false;
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    was_empty = inbox_.empty();
    if (replaces(item) || (!was_empty && joins(inbox_.back(), item))) return;
    inbox_.push_back(std::move(item));
  }
  if (was_empty) woken_.notify_one();
}

/// Each record says all that the driver knows then, of the same instance (R28). So a driver that
/// repeats one a hundred thousand times gives the loop one. It is the same with the readings of a
/// metric; one that came before a change of the policy may be of another source, and stays before.
bool Loop::replaces(Item& item) {
  auto* const event = std::get_if<dispatch::Event>(&item);
  if (event == nullptr) return false;
  if (const auto* ended = std::get_if<dispatch::CreateEnded>(event))
    return seen_.erase(ended->instance), false;
  if (std::holds_alternative<dispatch::PolicyChanged>(*event)) return read_.clear(), false;
  const auto replaces_at = [&](const auto& entry) HOSTLER_REQUIRES(mutex_) {
    if (!entry.second) inbox_[entry.first->second] = std::move(item);
    return !entry.second;
  };
  if (const auto* seen = std::get_if<dispatch::CreateSeen>(event))
    return replaces_at(seen_.try_emplace(seen->instance, inbox_.size()));
  const auto* const read = std::get_if<dispatch::MetricsRead>(event);
  if (read == nullptr || read->readings.size() != 1) return false;
  return replaces_at(read_.try_emplace(read->readings.front().metric, inbox_.size()));
}

void Loop::post(dispatch::Event event) { add(std::move(event)); }
void Loop::query(Query query) { add(std::move(query)); }

std::size_t Loop::waiting() const {
  const MutexLock lock(mutex_);
  return inbox_.size() + unanswered_;
}

bool Loop::wait(Mono until, std::vector<Item>& batch) {
  constexpr Duration kLongest = std::chrono::seconds(60);
  const MutexLock lock(mutex_);
  const auto ready = [this]() HOSTLER_REQUIRES(mutex_) {
    return !inbox_.empty() || !queries_.empty() || stopping_;
  };
  if (!ready()) {
    // The condition's clock stops while the machine is suspended and boot time does not: wait in
    // bounded steps.
    const Mono now = read_clocks().mono;
    const Duration rest = until <= now ? Duration::zero() : std::min(until - now, kLongest);
    if (rest > Duration::zero()) woken_.wait_for(mutex_, rest, ready);
  }
  batch.swap(inbox_);
  seen_.clear();
  read_.clear();
  return !(stopping_ && batch.empty() && queries_.empty());
}

void Loop::issue_immediate(dispatch::Outbox& out) {
  auto immediate = dispatch::take_immediate(out);
  if (!immediate.empty()) sinks_.issue(std::move(immediate));
}

void Loop::flush(dispatch::Outbox& out) {
  issue_immediate(out);
  flush_at_ = Mono::max();
  if (out.changes.empty() && out.effects.empty()) return;
  sinks_.commit(std::exchange(out, {}), dispatcher_.queries().revision());
}

void Loop::flush_when_due(dispatch::Outbox& out) {
  issue_immediate(out);
  const Mono now = read_clocks().mono;
  if (!out.effects.empty() || now >= flush_at_) return flush(out);
  if (!out.changes.empty()) flush_at_ = std::min(flush_at_, now + kChangesWait);
}

void Loop::handle(std::vector<Item>& batch, dispatch::Outbox& out) {
  Now now = read_clocks();
  const auto done = [&](metrics::LoopWork kind) {
    const Mono began = std::exchange(now, read_clocks()).mono;
    metrics_.loop_work(kind, now.mono - began);
  };
  for (Item& item : batch) {
    if (auto* query = std::get_if<Query>(&item)) {
      queries_.push_back(std::move(*query));
      ++unanswered_;
    } else if (!only_shown_) {
      auto& event = std::get<dispatch::Event>(item);
      const auto kind = work_of(event);
      append(out, dispatcher_.apply(std::move(event), now));
      done(kind);
    }
  }
  batch.clear();
  answer_queries(out);
  if (only_shown_) return;
  now = read_clocks();
  append(out, dispatcher_.tick(now));
  flush_when_due(out);
  done(metrics::LoopWork::kTick);
}

void Loop::answer_queries(dispatch::Outbox& out) {
  if (queries_.empty()) return;
  flush(out);
  const Mono began = read_clocks().mono;
  for (Now now = read_clocks(); !queries_.empty() && now.mono - began < kQueriesTurn;) {
    const Query query = std::move(queries_.front());
    queries_.pop_front();
    --unanswered_;
    query(dispatcher_.queries(), now);
    const Mono asked = std::exchange(now, read_clocks()).mono;
    metrics_.loop_work(metrics::LoopWork::kQuery, now.mono - asked);
  }
}

void Loop::run() {
  pthread_setname_np(pthread_self(), "loop");
  std::vector<Item> batch;
  dispatch::Outbox out;
  const auto next = [this] {
    return only_shown_ ? Mono::max() : std::min(dispatcher_.next_wake(), flush_at_);
  };
  while (wait(next(), batch)) handle(batch, out);
  if (!only_shown_) append(out, dispatcher_.stop(read_clocks()));
  flush(out);
}

}  // namespace hostler::daemon
