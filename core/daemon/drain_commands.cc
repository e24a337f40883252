#include "core/daemon/drain_commands.h"

#include <pthread.h>

#include <system_error>
#include <thread>
#include <utility>

#include "core/base/command_output.h"
#include "core/log/log.h"

namespace hostler::daemon {
namespace {

constexpr std::size_t kAtOnce = 32;
constexpr std::size_t kOutputMax = std::size_t{64} << 10U;

std::vector<std::string> environment_of(const dispatch::DrainCall& call) {
  auto made = plain_environment();
  made.push_back("HOSTLER_INSTANCE=" + call.instance.text());
  made.push_back("HOSTLER_CLOUD_ID=" + call.cloud_id);
  made.push_back("HOSTLER_POOL=" + call.pool);
  return made;
}

}  // namespace

DrainCommands::DrainCommands(Ended ended) : ended_(std::move(ended)) {
  auto pipe = make_pipe();
  if (pipe)
    stop_ = *std::move(pipe);
  else
    log::warn("daemon", "drain commands cannot be ended early: " + pipe.error().message);
}

DrainCommands::~DrainCommands() {
  const MutexLock lock(mutex_);
  stopping_ = true;
  waiting_.clear();
  stop_.write.reset();
  thread_ended_.wait(mutex_, [this]() HOSTLER_REQUIRES(mutex_) { return threads_ == 0; });
}

void DrainCommands::refuse() {
  const MutexLock lock(mutex_);
  stopping_ = true;
}

void DrainCommands::run(dispatch::DrainCall call) {
  const MutexLock lock(mutex_);
  if (stopping_) return;
  waiting_.push_back(std::move(call));
  if (threads_ == kAtOnce) return;
  try {
    std::thread([this] { serve(); }).detach();
    ++threads_;
  } catch (const std::system_error& error) {
    // One of those that run takes it. Without any, the drain ends by its timeout.
    log::warn("daemon", std::string("no thread for a drain command: ") + error.what());
  }
}

void DrainCommands::serve() {
  pthread_setname_np(pthread_self(), "drain");
  const MutexLock lock(mutex_);
  while (!stopping_ && !waiting_.empty()) {
    const dispatch::DrainCall call = std::move(waiting_.front());
    waiting_.pop_front();
    dispatch::DrainEnded end;
    {
      const MutexUnlock unlocked(mutex_);
      end = run_one(call);
    }
    if (stopping_) break;
    ended_(std::move(end));
  }
  --threads_;
  thread_ended_.notify_all();  // under the lock: who waits may destroy this
}

dispatch::DrainEnded DrainCommands::run_one(const dispatch::DrainCall& call) const {
  const CommandLimits limits{call.timeout, kOutputMax, stop_.read.get()};
  const auto output = command_output(call.command, limits, {environment_of(call), true});
  return {call.instance, call.began, output.has_value(), output ? "" : output.error().message};
}

}  // namespace hostler::daemon
