#pragma once

#include <string_view>

namespace hostler::check {

/// What an author does about a finding that cites this rule or word (see Finding): one
/// sentence; empty for others.
std::string_view advice_for(std::string_view rule);

}  // namespace hostler::check
