#include "core/sources/sample_file.h"

#include <pthread.h>

#include <iterator>
#include <utility>

#include "core/log/log.h"

namespace hostler::sources {
namespace {

constexpr std::size_t kWaitingMax = 200'000;  // samples; some 10 MiB

}  // namespace

SampleFile::SampleFile(std::filesystem::path path, const std::string& site)
    : path_(std::move(path)) {
  auto opened = RingFile::open(path_, site);
  if (opened) {
    ring_ = *std::move(opened);
  } else {
    log::warn("sources", "past samples are not kept: " + opened.error().message);
  }
}

SampleFile::~SampleFile() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::vector<model::MetricPast> SampleFile::load(Wall since) {
  if (!ring_) return {};
  auto loaded = ring_->load(since);
  if (loaded) return *std::move(loaded);
  log::warn("sources", path_.string() + " is not read: " + loaded.error().message);
  return {};
}

void SampleFile::append(std::vector<model::MetricReading> readings) {
  std::size_t count = 0;
  for (const model::MetricReading& reading : readings) count += reading.samples.size();
  {
    const MutexLock lock(mutex_);
    if (!ring_ || samples_waiting_ + count > kWaitingMax) return;
    samples_waiting_ += count;
    std::move(readings.begin(), readings.end(), std::back_inserter(waiting_));
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  woken_.notify_one();
}

void SampleFile::run() {
  pthread_setname_np(pthread_self(), "samples");
  for (;;) {
    std::vector<model::MetricReading> readings;
    {
      const MutexLock lock(mutex_);
      woken_.wait(mutex_,
                  [this]() HOSTLER_REQUIRES(mutex_) { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      readings = std::exchange(waiting_, {});
      samples_waiting_ = 0;
    }
    note(ring_->append(readings));
  }
}

void SampleFile::note(const Result<void>& written) {
  if (!written && !is_failing_)
    log::warn("sources", path_.string() + ": " + written.error().message +
                             "; samples are not kept until this works again");
  if (written && is_failing_) log::info("sources", path_.string() + " is written again");
  is_failing_ = !written;
}

}  // namespace hostler::sources
