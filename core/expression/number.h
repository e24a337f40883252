#pragma once

#include <optional>
#include <string_view>

#include "core/expression/value.h"

namespace hostler::expression {

/// A number as expr writes it: 42, 1_000, 0x2A, 0o17, 0b101, .5, 1., 1e3. nullopt: it is none, or
/// it does not fit into 64 bits.
std::optional<Value> read_number(std::string_view token);

}  // namespace hostler::expression
