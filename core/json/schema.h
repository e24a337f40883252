#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace hostler::json {

/// Validates a JSON text against a JSON Schema (draft 7, and `$defs`). Returns what is wrong, one
/// line each with its path ("types.small.stock: ..."), at most 10; empty: it is valid.
///
/// An error means that this cannot be checked: one of the texts is no JSON, the schema is wrong,
/// refers to other documents or to itself without an end, or the value has a string of more than
/// 1024 bytes, which regular expressions cannot be trusted with. Loads nothing.
Result<std::vector<std::string>> schema_problems(std::string_view schema, std::string_view value);

}  // namespace hostler::json
