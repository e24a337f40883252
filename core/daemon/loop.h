#pragma once

#include <functional>
#include <thread>
#include <variant>
#include <vector>

#include "core/base/mutex.h"
#include "core/dispatch/dispatcher.h"
#include "core/metrics/metrics.h"

namespace hostler::daemon {

/// The one thread that owns the state. Everyone else sends it values.
class Loop {
 public:
  /// Takes what a batch of events led to; called on the loop's thread, must not block.
  using Sink = std::function<void(dispatch::Outbox, model::Revision)>;
  /// A look at the state, on the loop's thread, after every event that was posted before it.
  using Look = std::function<void(const dispatch::Queries&, Now)>;

  Loop(dispatch::Dispatcher dispatcher, metrics::Metrics& metrics, Sink sink);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void start(model::Restored restored);
  /// Applies what was posted before the call, hands it to the sink, and joins the thread.
  void stop();

  /// What the loop left; after stop(), of one that was started.
  [[nodiscard]] dispatch::Queries left() const { return dispatcher_.queries(); }

  /// Any thread; never blocks. After stop() it is dropped.
  void post(dispatch::Event event);
  void look(Look look);
  /// What was posted and is not taken up yet.
  [[nodiscard]] std::size_t waiting() const;

 private:
  using Item = std::variant<dispatch::Event, Look>;

  void run();
  void add(Item item);
  bool wait(Mono until, std::vector<Item>& batch);
  void flush(dispatch::Outbox& out);
  void flush_when_due(dispatch::Outbox& out);
  void work_off(std::vector<Item>& batch, dispatch::Outbox& out);

  dispatch::Dispatcher dispatcher_;  ///< Loop thread only, once started.
  Mono flush_at_ = Mono::max();      ///< Of changes that nothing waits for. Loop thread only.
  metrics::Metrics& metrics_;
  const Sink sink_;
  mutable Mutex mutex_;
  Condition woken_;
  std::vector<Item> inbox_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hostler::daemon
