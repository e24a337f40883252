#pragma once

#include <string>
#include <string_view>

/// PostgreSQL's text holds neither NUL nor what is no UTF-8, and what a host or a driver says may
/// be either. Each such byte is kept as \x01 and its two hex digits, and so is \x01 itself: every
/// text comes back byte for byte, and equal ones stay equal.
namespace hostler::store::postgres {

bool needs_escape(std::string_view text);
std::string escaped(std::string_view text);
std::string unescaped(std::string_view text);

}  // namespace hostler::store::postgres
