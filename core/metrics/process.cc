#include "core/metrics/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "core/base/files.h"

namespace hostler::metrics {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::size_t kProcFileMax = std::size_t{1} << 20U;

MetricFamily single(const char* name, const char* help, MetricType type, double value) {
  prometheus::ClientMetric metric;
  if (type == MetricType::Counter)
    metric.counter.value = value;
  else
    metric.gauge.value = value;
  return {name, help, type, {std::move(metric)}};
}

/// The fields of /proc/self/stat from the third on. (The second is a name, which may contain
/// anything.)
std::vector<std::string> stat_fields() {
  const std::string text = read_file("/proc/self/stat", kProcFileMax).value_or("");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

/// Boot time of the machine in seconds since 1970. Not read from /proc/stat, because systemd's
/// ProcSubset=pid hides that file.
double boot_time() {
  const auto read = [](clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  };
  // Computed once, because each correction of the clock would change it.
  static const double time = read(CLOCK_REALTIME) - read(CLOCK_BOOTTIME);
  return time;
}

/// nullopt if no descriptor is left to read the folder.
std::optional<double> open_files() {
  std::error_code problem;
  double count = -1;  // do not count the descriptor that reads the folder
  for (std::filesystem::directory_iterator file("/proc/self/fd", problem), end;
       !problem && file != end; file.increment(problem))
    ++count;
  if (problem) return std::nullopt;
  return count;
}

}  // namespace

std::vector<MetricFamily> process_families() {
  std::vector<MetricFamily> out;
  const auto gauge = [&](const char* name, const char* help, double value) {
    out.push_back(single(name, help, MetricType::Gauge, value));
  };
  // man 5 proc: 14 utime, 15 stime, 20 num_threads, 22 starttime, 23 vsize, 24 rss.
  const auto fields = stat_fields();
  constexpr std::size_t kFirst = 3;
  if (fields.size() > 24 - kFirst) {
    const auto field = [&](std::size_t number) { return std::stod(fields[number - kFirst]); };
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    out.push_back(single("process_cpu_seconds_total", "User and system CPU time spent.",
                         MetricType::Counter, (field(14) + field(15)) / ticks));
    gauge("process_threads", "Threads of the process.", field(20));
    gauge("process_start_time_seconds", "Start of the process in seconds of Unix time.",
          boot_time() + field(22) / ticks);
    gauge("process_virtual_memory_bytes", "Virtual memory size.", field(23));
    gauge("process_resident_memory_bytes", "Resident memory size.",
          field(24) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  }
  if (const auto open = open_files()) gauge("process_open_fds", "Open file descriptors.", *open);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    gauge("process_max_fds", "Maximum number of open file descriptors.",
          static_cast<double>(limit.rlim_cur));
  return out;
}

}  // namespace hostler::metrics
