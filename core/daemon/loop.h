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
  /// Take what a batch of events led to. Called on the loop's thread; must not block.
  struct Sinks {
    /// Changes up to this revision, and the effects that wait until they are durable.
    std::function<void(dispatch::Outbox, model::Revision)> commit;
    /// Effects that wait for no commit (core/dispatch/immediate_effects.h).
    std::function<void(std::vector<dispatch::Effect>)> issue;
  };
  /// A look at the state, on the loop's thread, after every event that was posted before it.
  using Look = std::function<void(const dispatch::Dispatcher&, Now)>;

  Loop(dispatch::Dispatcher dispatcher, metrics::Metrics& metrics, Sinks sinks);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void start(model::Restored restored);
  /// Applies what was posted before the call, hands it to the sink, and joins the thread.
  void stop();

  /// What the loop left; after stop(), of one that was started.
  [[nodiscard]] const dispatch::Dispatcher& left() const { return dispatcher_; }

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
  void issue_immediate(dispatch::Outbox& out);
  void flush(dispatch::Outbox& out);
  void flush_when_due(dispatch::Outbox& out);
  void work_off(std::vector<Item>& batch, dispatch::Outbox& out);

  dispatch::Dispatcher dispatcher_;  ///< Loop thread only, once started.
  Mono flush_at_ = Mono::max();      ///< Of changes that nothing waits for. Loop thread only.
  metrics::Metrics& metrics_;
  const Sinks sinks_;
  mutable Mutex mutex_;
  Condition woken_;
  std::vector<Item> inbox_ HOSTLER_GUARDED_BY(mutex_);
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hostler::daemon
