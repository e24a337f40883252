#pragma once

#include <string>
#include <string_view>

/// PostgreSQL's text can hold neither NUL nor invalid UTF-8, but texts of hosts and drivers can.
/// Each such byte is stored as \x01 and two hex digits, and so is \x01 itself: every text is read
/// back byte for byte, and equal texts stay equal.
namespace hostler::store::postgres {

bool needs_escape(std::string_view text);
std::string escaped(std::string_view text);
std::string unescaped(std::string_view text);

}  // namespace hostler::store::postgres
