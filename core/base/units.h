#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/time.h"

namespace hostler {

/// "250ms", "30s", "10m", "2h", "7d"; a unit is required, "0" alone is not a duration.
Result<Duration> parse_duration(std::string_view text);
/// "512B", "64KiB", "1.5GiB", "2TB": bytes. A bare number is refused; "B" is a unit.
Result<std::int64_t> parse_size(std::string_view text);

/// Short and for people: "1.5 s", "10 m", "2.0 GiB". parse_* does not read them back.
std::string format_duration(Duration d);
std::string format_size(std::int64_t bytes);

/// In the largest unit that divides it: "90s", "2h", "1536MiB". For programs: parse_* gives the
/// same value back.
std::string exact_duration(Duration d);
std::string exact_size(std::int64_t bytes);

/// "2026-11-21T10:15:04Z"; "-" for 0.
std::string format_wall(Wall wall);
/// "2026-11-21T10:15:04.000123Z", for programs.
std::string exact_wall(Wall wall);
/// Of "2026-11-21T10:15:04Z", with or without a fraction, or of a day, "2026-11-21", its beginning;
/// nullopt: neither, no day of the calendar, or before 1970.
std::optional<Wall> parse_wall(std::string_view text);

}  // namespace hostler
