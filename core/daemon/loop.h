#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/base/mutex.h"
#include "core/dispatch/dispatcher.h"
#include "core/metrics/metrics.h"

namespace hostler::daemon {

/// The one thread that owns the state. All other threads send it values.
class Loop {
 public:
  /// Take the results of a batch of events. Called on the loop's thread, and once by start(); they
  /// must not block.
  struct Sinks {
    /// Changes up to this revision, and the effects that wait until they are durable.
    std::function<void(dispatch::Outbox, model::Revision)> commit;
    /// Effects that wait for no commit (core/dispatch/immediate_effects.h).
    std::function<void(std::vector<dispatch::Effect>)> issue;
  };
  /// Reads the state on the loop's thread, after every event that was posted before the query.
  /// Queries have their turns between events: however many wait, events do not wait for all.
  using Query = std::function<void(const dispatch::Queries&, Now)>;

  Loop(dispatch::Dispatcher dispatcher, metrics::Metrics& metrics, Sinks sinks);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Restores the state, hands the first changes to the sinks and starts the thread. Once.
  /// `only_shown`: nothing is handed to the sinks, events are ignored and only queries answered.
  void start(model::Restored restored, bool only_shown = false);
  /// Applies all events that were posted before the call, hands their changes to the sinks, and
  /// joins the thread. Blocks until then.
  void stop();

  /// The state at the end, to be called after stop() of a loop that was started.
  [[nodiscard]] dispatch::Queries final_state() const;

  /// Any thread; never blocks. Ignored after stop().
  void post(dispatch::Event event);
  void query(Query query);
  /// Events and queries that wait for the loop. Any thread.
  [[nodiscard]] std::size_t waiting() const;

 private:
  using Item = std::variant<dispatch::Event, Query>;

  void run();
  void add(Item item);
  /// A record of a create, or a reading of a metric, that waits is replaced by a later one. False:
  /// none waits.
  bool replaces(Item& item) HOSTLER_REQUIRES(mutex_);
  /// Waits for items, or until the time. False once the loop stops and all items are handled.
  bool wait(Mono until, std::vector<Item>& batch);
  void issue_immediate(dispatch::Outbox& out);
  void flush(dispatch::Outbox& out);
  void flush_when_due(dispatch::Outbox& out);
  void handle(std::vector<Item>& batch, dispatch::Outbox& out);
  /// Answers some, and one at least.
  void answer_queries(dispatch::Outbox& out);

  dispatch::Dispatcher dispatcher_;  ///< Loop thread only, once started.
  /// When changes are committed at the latest that no effect waits for. Loop thread only.
  Mono flush_at_ = Mono::max();
  metrics::Metrics& metrics_;
  const Sinks sinks_;
  std::deque<Query> queries_;               ///< Not answered yet. Loop thread only.
  std::atomic<std::size_t> unanswered_{0};  ///< How many these are.
  bool only_shown_ = false;                 ///< Set before the thread starts.
  mutable Mutex mutex_;
  Condition woken_;
  std::vector<Item> inbox_ HOSTLER_GUARDED_BY(mutex_);
  /// Where in the inbox the record of each create is that has not ended after it.
  std::map<model::InstanceId, std::size_t> seen_ HOSTLER_GUARDED_BY(mutex_);
  /// Where in the inbox the reading of each metric is, since the policy last changed.
  std::map<std::string, std::size_t> read_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hostler::daemon
