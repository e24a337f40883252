#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/time.h"
#include "core/model/metric.h"
#include "core/sources/ring_file.h"

namespace hostler::sources {

/// Keeps past samples over restarts, in a RingFile that a thread of its own writes. No trouble with
/// it is an error of the daemon: without the file averages over a time are unknown for this time
/// after a start. Troubles are logged, once until it goes well again.
class SampleFile {
 public:
  /// Opens or makes the file. Blocks on the disk. `site`: whose samples it has, 255 bytes at most.
  SampleFile(std::filesystem::path path, const std::string& site);
  /// Writes what waits.
  ~SampleFile();
  SampleFile(const SampleFile&) = delete;
  SampleFile& operator=(const SampleFile&) = delete;

  /// Samples that were taken at `since` or later, one entry for each series, oldest first. Blocks
  /// on the disk. Call it once, before the first append().
  [[nodiscard]] std::vector<model::MetricPast> load(Wall since);

  /// Any thread; returns at once. Readings are left out while too many wait for the disk.
  void append(std::vector<model::MetricReading> readings);

 private:
  void run();
  void note(const Result<void>& written);

  const std::filesystem::path path_;
  std::optional<RingFile> ring_;  ///< Of the thread once it has begun.
  bool is_failing_ = false;       ///< Likewise.
  Mutex mutex_;
  Condition woken_;
  std::vector<model::MetricReading> waiting_ HOSTLER_GUARDED_BY(mutex_);
  std::size_t samples_waiting_ HOSTLER_GUARDED_BY(mutex_) = 0;
  bool stopping_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hostler::sources
