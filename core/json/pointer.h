#pragma once

#include <string_view>

#include "core/base/error.h"
#include "core/json/document.h"

/// JSON pointers (RFC 6901): "/data/0/value"; "" is the whole document.
namespace hostler::json {

/// Fails if `pointer` is not one: it begins with another character than "/", or has a "~" that is
/// not part of "~0" ("~") or "~1" ("/").
Result<void> check_pointer(std::string_view pointer);

/// The value that `pointer` leads to from `from`. kNotFound: there is none; the message names the
/// step at which it ends.
Result<Value> at_pointer(Value from, std::string_view pointer);

}  // namespace hostler::json
