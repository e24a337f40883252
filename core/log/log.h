#pragma once

#include <string_view>

#include "core/base/error.h"

/// The log of the process: one line for each event, on standard error. The only folder that uses
/// spdlog. Every function may be called from any thread and may block for the write.
/// The daemon and the adapters log. Pure code returns reasons instead. A failure is logged once, by
/// the function that handles it and does not return it to its caller.
namespace hostler::log {

enum class Level { kDebug, kInfo, kWarn, kError };

/// "debug", "info", "warn", "error".
Result<Level> parse_level(std::string_view text);
void set_level(Level level);
/// Nothing is written any more: for a process whose standard error is somebody else's.
void turn_off();

void write(Level level, std::string_view area, std::string_view message);

/// `area` names the part of the program, e.g. "ssh h-7" or "store". Neither argument may contain a
/// secret.
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
