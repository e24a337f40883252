#include "core/plugin_host/host_table.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/text.h"
#include "core/log/log.h"
#include "core/plugin_host/abi_values.h"
#include "core/plugin_host/live_operations.h"
#include "core/plugin_host/offered_files.h"
#include "core/plugin_host/operation.h"
#include "core/plugin_host/record_intake.h"

namespace hostler::plugin_host {
namespace {

constexpr std::size_t kMessageMax = 2048, kLinesPerSecondMax = 200;

/// Limits the log lines of all drivers. Lines beyond the limit are dropped, and their number is
/// appended to the next line that passes.
class LogLimit {
 public:
  /// Returns the number of lines dropped since the last one that passed; nothing if this line is
  /// dropped too.
  std::optional<std::uint64_t> pass() {
    const auto now = std::chrono::steady_clock::now();
    const MutexLock lock(mutex_);
    if (now - second_ >= std::chrono::seconds(1)) second_ = now, lines_ = 0;
    if (++lines_ > kLinesPerSecondMax) return ++dropped_, std::nullopt;
    return std::exchange(dropped_, 0);
  }

 private:
  Mutex mutex_;
  std::chrono::steady_clock::time_point second_ HOSTLER_GUARDED_BY(mutex_);
  std::size_t lines_ HOSTLER_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ HOSTLER_GUARDED_BY(mutex_) = 0;
};

struct SetNames {
  Mutex mutex;
  std::map<const hostler_set*, std::string> names HOSTLER_GUARDED_BY(mutex);
};
SetNames& set_names() {
  static auto* const names = new SetNames;  // drivers may log until the process ends
  return *names;
}

void drop(log::Level /*level*/, const std::string& /*area*/, const std::string& /*line*/) {}
std::atomic<void (*)(log::Level, const std::string&, const std::string&)> line_sink = &drop;

thread_local const std::string* area_of_thread = nullptr;

std::string area_of(const hostler_set* set) {
  auto& names = set_names();
  const MutexLock lock(names.mutex);
  const auto found = names.names.find(set);
  if (found != names.names.end()) return found->second;
  return area_of_thread == nullptr ? "driver" : *area_of_thread;
}

std::string text(const char* s, std::size_t n, std::size_t max) {
  return s == nullptr ? std::string() : printable({s, std::min(n, max)}, max);
}

/// Nothing if there are too many lines; else what to say of those that were dropped.
std::optional<std::string> admit_line() {
  static auto* const limit = new LogLimit;
  const auto dropped = limit->pass();
  if (!dropped) return std::nullopt;
  if (*dropped == 0) return std::string();
  return " (" + std::to_string(*dropped) + " lines before it were dropped)";
}

void log_line(const hostler_host* /*host*/, const hostler_log_line* from) {
  const auto dropped = admit_line();
  hostler_log_line in;
  if (!dropped || from == nullptr || !copy_growable(from, in).empty()) return;
  const auto op = LiveOperations::get().find(in.op);
  std::string line = op != nullptr ? printable(op->label()) + ": " : "";
  if (in.op != nullptr && (op == nullptr || op->has_ended()))
    line += "of a call that is long over (R26): ";
  line += text(in.message.ptr, in.message.len, kMessageMax) + *dropped;
  const auto chosen = in.level >= HOSTLER_LOG_ERROR     ? log::Level::kError
                      : in.level == HOSTLER_LOG_WARNING ? log::Level::kWarn
                      : in.level == HOSTLER_LOG_INFO    ? log::Level::kInfo
                                                        : log::Level::kDebug;
  line_sink.load()(chosen, op != nullptr && in.set == nullptr ? op->log_area() : area_of(in.set),
                   line);
}

}  // namespace

const hostler_host& host_table() {
  static const hostler_host table = {sizeof(hostler_host), HOSTLER_ABI_MAJOR, HOSTLER_ABI_MINOR,
                                     HOSTLER_ABI_DRAFT,    "hostler",         HOSTLER_VERSION,
                                     kRecordsMax,          kRecordBytesMax,   &log_line,
                                     &extension_of_host};
  return table;
}

void set_line_sink(void (*write)(log::Level, const std::string&, const std::string&)) {
  line_sink = write;
}

std::string log_area(const std::string& driver, const std::string& set) {
  return "driver " + driver + (set.empty() ? "" : ", set " + set);
}

void name_set_in_log(const hostler_set* set, const std::string& area) {
  auto& names = set_names();
  const MutexLock lock(names.mutex);
  if (area.empty()) {
    names.names.erase(set);
  } else {
    names.names[set] = area;
  }
}

void log_misuse(const std::string& text) {
  if (const auto dropped = admit_line())
    line_sink.load()(log::Level::kWarn, area_of(nullptr), "broke a rule: " + text + *dropped);
}

LogAs::LogAs(const std::string& area) : before_(std::exchange(area_of_thread, &area)) {}
LogAs::~LogAs() { area_of_thread = before_; }

}  // namespace hostler::plugin_host
