#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/mutex.h"
#include "core/base/time.h"
#include "core/tap/recording.h"

namespace hostler::tap {

/// The file that the calls of one set are recorded in. A thread of its own writes, so that nobody
/// waits for the disk: lines that come faster than the disk takes them are dropped, and their
/// numbers are missing. A write that fails, as on a full disk, ends the recording with a line in
/// the log. Threads: any.
class RecordingFile {
 public:
  struct Options {
    std::filesystem::path path;
    std::uint64_t bytes_max = std::uint64_t{64} << 20U;
    std::string set, driver;
    std::function<Now()> clock;
    std::uint64_t queue_bytes_max = std::uint64_t{4} << 20U;
  };

  /// Opens the file, or makes it with the mode 0600, and begins a session at its end. Refuses a
  /// file in a folder in which others may write, one that others may read, one that is no
  /// recording, one that has reached its limit, and one that somebody else records in. Blocks on
  /// the file.
  static Result<std::unique_ptr<RecordingFile>> open(Options options);
  /// Writes what waits, and the mark of the end. Blocks on the file.
  ~RecordingFile();
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  [[nodiscard]] Now now() const { return options_.clock(); }
  /// Adds a call that began at `start` and ends now. `rest`: its other members,
  /// `"call":"list",...`. False: the line is lost. Returns at once.
  bool append(Mono start, std::string_view rest);

 private:
  RecordingFile(Options options, UniqueFd fd, std::uint64_t bytes);
  bool enqueue(std::string_view line) HOSTLER_REQUIRES(mutex_);
  void end(std::string_view why) HOSTLER_REQUIRES(mutex_);
  void run();
  void write(const std::string& lines);
  [[nodiscard]] std::string area() const { return "recording of set " + options_.set; }

  const Options options_;
  const Mono began_;
  const UniqueFd fd_;
  Mutex mutex_;
  Condition woken_;
  std::string queue_ HOSTLER_GUARDED_BY(mutex_);
  std::uint64_t bytes_ HOSTLER_GUARDED_BY(mutex_);  ///< Of the file with all that waits.
  std::uint64_t calls_ HOSTLER_GUARDED_BY(mutex_) = 0, dropped_ HOSTLER_GUARDED_BY(mutex_) = 0;
  bool ended_ HOSTLER_GUARDED_BY(mutex_) = false;  ///< It takes no more calls.
  bool closing_ HOSTLER_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hostler::tap
