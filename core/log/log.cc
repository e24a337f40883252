#include "core/log/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "core/base/text.h"

namespace hostler::log {
namespace {

constexpr std::size_t kMessageMax = 8192;

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("hostler",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum native(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarn:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

Result<Level> parse_level(std::string_view text) {
  if (text == "debug") return Level::kDebug;
  if (text == "info") return Level::kInfo;
  if (text == "warn") return Level::kWarn;
  if (text == "error") return Level::kError;
  return fail(Errc::kInvalidArgument,
              "'" + printable(text, 40) + "' is not a log level (debug, info, warn, error)");
}

void set_level(Level level) { logger().set_level(native(level)); }
void turn_off() { logger().set_level(spdlog::level::off); }

void write(Level level, std::string_view area, std::string_view message) {
  if (!logger().should_log(native(level))) return;
  // The message may contain text of others: printable() makes sure that it is one line.
  logger().log(native(level), "{}: {}", area, printable(message, kMessageMax));
}

}  // namespace hostler::log
