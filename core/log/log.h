#pragma once

#include <string_view>

#include "core/base/error.h"

/// The process's log: one line an event, to standard error. The only home of spdlog.
/// Threads: every function may be called from any thread. Daemon and adapters log; pure code
/// returns reasons instead. A failure is logged once, by whoever does not pass it on.
namespace hostler::log {

enum class Level { kDebug, kInfo, kWarn, kError };

/// "debug", "info", "warn", "error".
Result<Level> parse_level(std::string_view text);
void set_level(Level level);

void write(Level level, std::string_view area, std::string_view message);

/// `area` is the speaker, e.g. "ssh h-7" or "store". Never a secret in either argument.
inline void debug(std::string_view area, std::string_view message) {
  write(Level::kDebug, area, message);
}
inline void info(std::string_view area, std::string_view message) {
  write(Level::kInfo, area, message);
}
inline void warn(std::string_view area, std::string_view message) {
  write(Level::kWarn, area, message);
}
inline void error(std::string_view area, std::string_view message) {
  write(Level::kError, area, message);
}

}  // namespace hostler::log
