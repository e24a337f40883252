#pragma once

#include <hostler/driver.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hostler::local {

/// A notice that an instance is taken back.
struct NoticeLine {
  std::int64_t at_unix_ns = 0;  ///< 0: soon.
  std::uint32_t action = HOSTLER_INTERRUPTION_NOT_SAID;
  std::string text;
  friend bool operator==(const NoticeLine&, const NoticeLine&) = default;
};
/// By instance id.
using Notices = std::map<std::string, NoticeLine>;

/// The notices in the file `path`, which whoever tests writes: a line for each, "ID SECONDS ACTION
/// TEXT", with the seconds since 1970 (0: soon) and "terminate", "stop", "suspend" or "restart".
/// Lines that are not so are skipped; without the file there are none.
Notices read_notices(const std::string& path);

/// Watches the file for operations that last until they are cancelled: emits what it has at first,
/// what comes, and the withdrawal of what goes. Each has a thread. [any-thread]
class NoticeWatches {
 public:
  explicit NoticeWatches(std::string path) : path_(std::move(path)) {}
  /// Waits for the threads: the host has ended all operations before.
  ~NoticeWatches();
  NoticeWatches(const NoticeWatches&) = delete;
  NoticeWatches& operator=(const NoticeWatches&) = delete;

  /// The operation is pending from now on.
  void begin(hostler_op* op);

 private:
  const std::string path_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

}  // namespace hostler::local
