#include "core/sources/local_readings.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/spawn.h"
#include "core/sources/local_source.h"
#include "core/sources/reading.h"

namespace hostler::sources {
namespace {

using std::chrono::seconds;

constexpr std::size_t kAtOnce = 64;
constexpr Duration kEndMax = seconds(2);  // for programs, which are killed

Result<Samples> read(const model::MetricSource& source, int stop_fd) {
  const Wall now = read_clocks().wall;
  if (source.kind == model::MetricSource::Kind::kFile) return read_file_source(source, now);
  return read_exec_source(source, now, stop_fd);
}

}  // namespace

/// Outlives its LocalReadings where a thread hangs.
struct LocalReadings::Shared {
  struct Task {
    ReadingId id = 0;
    model::MetricSource source;
    Pipe stop;  ///< Its end for writing is closed to end a program early.
  };
  using TaskPtr = std::shared_ptr<Task>;

  Mutex mutex;
  Condition thread_ended;
  std::function<void(ReadingId, model::MetricReading)> ended HOSTLER_GUARDED_BY(mutex);
  std::deque<TaskPtr> waiting HOSTLER_GUARDED_BY(mutex);
  std::map<ReadingId, TaskPtr> running HOSTLER_GUARDED_BY(mutex);
  std::size_t threads HOSTLER_GUARDED_BY(mutex) = 0;

  TaskPtr next() {
    const MutexLock lock(mutex);
    if (waiting.empty()) {
      --threads;
      thread_ended.notify_all();
      return nullptr;
    }
    TaskPtr task = std::move(waiting.front());
    waiting.pop_front();
    running.emplace(task->id, task);
    return task;
  }
  void tell(ReadingId id, model::MetricReading reading) {
    const MutexLock lock(mutex);
    running.erase(id);
    if (ended) ended(id, std::move(reading));
  }
  void run() {
    pthread_setname_np(pthread_self(), "source");
    while (const TaskPtr task = next())
      tell(task->id, to_reading(task->source, read(task->source, task->stop.read.get())));
  }
};

LocalReadings::LocalReadings(std::function<void(ReadingId, model::MetricReading)> ended)
    : shared_(std::make_shared<Shared>()) {
  const MutexLock lock(shared_->mutex);
  shared_->ended = std::move(ended);
}

LocalReadings::~LocalReadings() {
  const MutexLock lock(shared_->mutex);
  shared_->ended = nullptr;
  shared_->waiting.clear();
  for (const auto& [id, task] : shared_->running) task->stop.write.reset();
  Shared& shared = *shared_;
  shared.thread_ended.wait_for(shared.mutex, kEndMax, [&shared]() HOSTLER_REQUIRES(shared.mutex) {
    return shared.threads == 0;
  });
}

void LocalReadings::start(ReadingId id, const model::MetricSource& source) {
  auto stop = make_pipe();
  const MutexLock lock(shared_->mutex);
  if (!stop) return shared_->ended(id, to_reading(source, tl::unexpected(stop.error())));
  shared_->waiting.push_back(
      std::make_shared<Shared::Task>(Shared::Task{id, source, *std::move(stop)}));
  if (shared_->threads == kAtOnce) return;
  try {
    std::thread([shared = shared_] { shared->run(); }).detach();
    ++shared_->threads;
  } catch (const std::system_error&) {
    if (shared_->threads > 0) return;  // One of those takes it.
    shared_->waiting.pop_back();
    shared_->ended(id, to_reading(source, fail(Errc::kUnavailable, "no thread can be started")));
  }
}

bool LocalReadings::cancel(ReadingId id) {
  const MutexLock lock(shared_->mutex);
  const auto running = shared_->running.find(id);
  if (running != shared_->running.end()) running->second->stop.write.reset();
  return std::erase_if(shared_->waiting, [&](const auto& task) { return task->id == id; }) > 0;
}

}  // namespace hostler::sources
