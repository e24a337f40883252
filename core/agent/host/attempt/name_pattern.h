#pragma once

#include <string_view>

namespace hostler::agent {

/// Matches the name of one file or folder with a pattern of `*`, `?`, `[a-z]`, `[!a]` and `\`.
/// `*` and `?` do not match a leading dot. Needs at most time in proportion to the product of the
/// two lengths.
bool matches_name(std::string_view pattern, std::string_view name);

}  // namespace hostler::agent
