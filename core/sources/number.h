#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

/// Numbers in the texts of sources. Pure.
namespace hostler::sources {

/// As Prometheus writes a value: "1.5e+06", "NaN", "+Inf". nullopt: it is no number, or too large.
std::optional<double> parse_number(std::string_view text);

/// The number that a JSON text has at `pointer`; empty: the whole text is a number. Texts, booleans
/// and null are none. Errors say what was found, and begin with `what`, the name of the text.
Result<double> number_at(std::string_view text, const std::string& pointer,
                         const std::string& what);

}  // namespace hostler::sources
