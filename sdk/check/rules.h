#pragma once

#include <string_view>

namespace hostler::check {

/// What an author does about a broken rule: one sentence; empty for a rule that is not known.
std::string_view advice_for(std::string_view rule);

}  // namespace hostler::check
