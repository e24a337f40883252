#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

/// Numbers in the texts of sources. Pure.
namespace hostler::sources {

/// Whether errors quote what a source has said. Not that of a server that gets a token: it may send
/// it back, also a part of it or written in another way.
enum class Quotes : bool { kNo, kYes };

/// As Prometheus writes a value: "1.5e+06", "NaN", "+Inf". nullopt: it is no number, or too large.
std::optional<double> parse_number(std::string_view text);

/// The number that a JSON text has at `pointer`; empty: the whole text is a number. Texts, booleans
/// and null are none. Errors begin with `what`, the name of the text.
Result<double> number_at(std::string_view text, const std::string& pointer, const std::string& what,
                         Quotes quotes = Quotes::kYes);

}  // namespace hostler::sources
