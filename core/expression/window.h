#pragma once

#include <string_view>

#include "core/base/error.h"
#include "core/base/time.h"

/// The texts in quotes of an expression.
namespace hostler::expression {

/// Above 0: "5m", "90s", "1h30m".
Result<Duration> parse_window(std::string_view text);

/// "Europe/Berlin", "Etc/GMT-3", "UTC": the form, not whether the system has it.
bool is_zone_name(std::string_view text);

}  // namespace hostler::expression
