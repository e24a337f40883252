#include "core/daemon/drain_commands.h"

#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/command_output.h"
#include "core/base/mutex.h"
#include "core/base/spawn.h"
#include "core/log/log.h"

namespace hostler::daemon {
namespace {

constexpr std::size_t kAtOnce = 32;
constexpr std::size_t kOutputMax = std::size_t{64} << 10U;
constexpr Duration kEndMax = std::chrono::seconds(2);  // for commands, which are killed

std::vector<std::string> environment_of(const dispatch::DrainCall& call) {
  auto made = plain_environment();
  made.push_back("HOSTLER_INSTANCE=" + call.instance.text());
  made.push_back("HOSTLER_CLOUD_ID=" + call.cloud_id);
  made.push_back("HOSTLER_POOL=" + call.pool);
  return made;
}

}  // namespace

/// Outlives its DrainCommands where a thread hangs.
struct DrainCommands::Shared {
  explicit Shared(Ended end) : ended(std::move(end)) {}

  const Ended ended;
  Pipe stop;  ///< Its end for writing is closed to end the commands.
  Mutex mutex;
  Condition thread_ended;
  std::deque<dispatch::DrainCall> waiting HOSTLER_GUARDED_BY(mutex);
  std::size_t threads HOSTLER_GUARDED_BY(mutex) = 0;
  bool stopping HOSTLER_GUARDED_BY(mutex) = false;

  void serve() {
    pthread_setname_np(pthread_self(), "drain");
    const MutexLock lock(mutex);
    while (!stopping && !waiting.empty()) {
      const dispatch::DrainCall call = std::move(waiting.front());
      waiting.pop_front();
      dispatch::DrainEnded end;
      {
        const MutexUnlock unlocked(mutex);
        end = run_one(call);
      }
      if (stopping) break;
      ended(std::move(end));
    }
    --threads;
    thread_ended.notify_all();
  }

  [[nodiscard]] dispatch::DrainEnded run_one(const dispatch::DrainCall& call) const {
    const CommandLimits limits{call.timeout, kOutputMax, stop.read.get()};
    const auto output = command_output(call.command, limits, {environment_of(call), true});
    return {call.instance, call.began, output.has_value(), output ? "" : output.error().message};
  }
};

DrainCommands::DrainCommands(Ended ended) : shared_(std::make_shared<Shared>(std::move(ended))) {
  auto pipe = make_pipe();
  if (pipe)
    shared_->stop = *std::move(pipe);
  else
    log::warn("daemon", "drain commands cannot be ended early: " + pipe.error().message);
}

DrainCommands::~DrainCommands() {
  Shared& shared = *shared_;
  const MutexLock lock(shared.mutex);
  shared.stopping = true;
  shared.waiting.clear();
  shared.stop.write.reset();
  shared.thread_ended.wait_for(shared.mutex, kEndMax, [&shared]() HOSTLER_REQUIRES(shared.mutex) {
    return shared.threads == 0;
  });
}

void DrainCommands::refuse() {
  const MutexLock lock(shared_->mutex);
  shared_->stopping = true;
}

void DrainCommands::run(dispatch::DrainCall call) {
  const MutexLock lock(shared_->mutex);
  if (shared_->stopping) return;
  shared_->waiting.push_back(std::move(call));
  if (shared_->threads == kAtOnce) return;
  try {
    std::thread([shared = shared_] { shared->serve(); }).detach();
    ++shared_->threads;
  } catch (const std::system_error& error) {
    // One of those that run takes it. Without any, the drain ends by its timeout.
    log::warn("daemon", std::string("no thread for a drain command: ") + error.what());
  }
}

}  // namespace hostler::daemon
