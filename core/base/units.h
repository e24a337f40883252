#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/time.h"

namespace hostler {

/// Parses "250ms", "30s", "10m", "2h", "7d". A unit is required, also for 0.
Result<Duration> parse_duration(std::string_view text);
/// Parses "512B", "64KiB", "1.5GiB", "2TB" to bytes. A unit is required, e.g. "B".
Result<std::int64_t> parse_size(std::string_view text);

/// Short text for people: "1.5 s", "10 m", "2.0 GiB". The parse functions cannot read it.
std::string format_duration(Duration d);
std::string format_size(std::int64_t bytes);

/// Millionths as units, exactly: "0.02", "12.50", "0.000125".
std::string format_money(std::int64_t micros);

/// Exact text in the largest unit without a fraction: "90s", "2h", "1536MiB". The parse functions
/// return the same value.
std::string exact_duration(Duration d);
std::string exact_size(std::int64_t bytes);

/// "2026-11-21T10:15:04Z"; "-" for 0.
std::string format_wall(Wall wall);
/// "2026-11-21T10:15:04.000123Z", for programs.
std::string exact_wall(Wall wall);
/// Parses "2026-11-21T10:15:04Z", with or without a fraction, or "2026-11-21", the beginning of
/// that day. nullopt for other text, for a day that does not exist, and before 1970.
std::optional<Wall> parse_wall(std::string_view text);

}  // namespace hostler
