#include "core/sources/collector.h"

#include <pthread.h>

#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/sources/http_readings.h"
#include "core/sources/local_readings.h"
#include "core/sources/reading.h"
#include "core/sources/schedule.h"

namespace hostler::sources {
namespace {

using std::chrono::minutes;

constexpr Duration kWaitMax = minutes(1);

}  // namespace

struct Collector::Parts {
  explicit Parts(std::function<void(model::MetricReading)> reader)
      : read(std::move(reader)), local([this](ReadingId id, model::MetricReading reading) {
          {
            const MutexLock lock(mutex);
            local_ended.push_back({id, std::move(reading)});
          }
          http.wake();
        }) {}

  const std::function<void(model::MetricReading)> read;
  Mutex mutex;
  Schedule schedule HOSTLER_GUARDED_BY(mutex);
  std::vector<Ended> local_ended HOSTLER_GUARDED_BY(mutex);
  std::vector<ReadingId> unwanted HOSTLER_GUARDED_BY(mutex);  ///< They still run.
  bool stopping HOSTLER_GUARDED_BY(mutex) = false;
  HttpReadings http;  ///< Of the thread, but for wake().
  LocalReadings local;
  std::thread thread;

  /// What the thread does next.
  struct Turn {
    std::vector<Started> started;
    Duration wait{};
  };

  Turn take_turn() HOSTLER_REQUIRES(mutex) {
    const Mono now = read_clocks().mono;
    Turn turn{schedule.take_due(now), kWaitMax};
    if (!local_ended.empty())
      turn.wait = Duration();
    else if (const auto next = schedule.next())
      turn.wait = std::min(kWaitMax, std::max(Duration(), *next - now));
    return turn;
  }
  /// Those that are dropped at once end with this; the end of others is still to come.
  void cancel_unwanted() {
    std::vector<ReadingId> ids;
    {
      const MutexLock lock(mutex);
      ids.swap(unwanted);
    }
    std::erase_if(ids, [this](ReadingId id) { return !http.cancel(id) && !local.cancel(id); });
    const MutexLock lock(mutex);
    for (const ReadingId id : ids) (void)schedule.end(id, read_clocks().mono);
  }
  void start(const Started& one) {
    const auto kind = one.source.kind;
    if (kind == model::MetricSource::Kind::kPrometheus || kind == model::MetricSource::Kind::kHttp)
      http.start(one.id, one.source, std::nullopt);
    else
      local.start(one.id, one.source);
  }
  void report(std::vector<Ended> ended) HOSTLER_REQUIRES(mutex) {
    const Mono now = read_clocks().mono;
    std::move(local_ended.begin(), local_ended.end(), std::back_inserter(ended));
    local_ended.clear();
    for (Ended& one : ended)
      if (schedule.end(one.id, now)) read(std::move(one.reading));
    for (const Started& one : schedule.take_overdue(now)) {
      unwanted.push_back(one.id);
      read(hangs(one.source));
    }
  }
  void run() {
    pthread_setname_np(pthread_self(), "sources");
    for (;;) {
      cancel_unwanted();
      Turn turn;
      {
        const MutexLock lock(mutex);
        if (stopping) return;
        turn = take_turn();
      }
      for (const Started& one : turn.started) start(one);
      std::vector<Ended> ended = http.wait(turn.wait);
      const MutexLock lock(mutex);
      report(std::move(ended));
    }
  }
};

Collector::Collector(std::function<void(model::MetricReading)> read)
    : parts_(std::make_unique<Parts>(std::move(read))) {
  parts_->thread = std::thread([parts = parts_.get()] { parts->run(); });
}

Collector::~Collector() {
  {
    const MutexLock lock(parts_->mutex);
    parts_->stopping = true;
  }
  parts_->http.wake();
  parts_->thread.join();
}

void Collector::set_sources(std::vector<model::MetricSource> sources) {
  std::erase_if(sources, [](const model::MetricSource& source) {
    return source.kind == model::MetricSource::Kind::kHostler;
  });
  {
    const MutexLock lock(parts_->mutex);
    const auto unwanted = parts_->schedule.replace(std::move(sources), read_clocks().mono);
    parts_->unwanted.insert(parts_->unwanted.end(), unwanted.begin(), unwanted.end());
  }
  parts_->http.wake();
}

}  // namespace hostler::sources
