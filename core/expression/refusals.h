#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/expression/grammar.h"
#include "core/expression/lexer.h"

/// Messages about what stands where it may not, and about what of expr the language leaves out.
namespace hostler::expression {

std::string why_not_here(const Token& token);
/// Of a name that is no variable, no metric, and is not used as the language uses it.
std::string why_not(std::string_view name);
std::string wrong_count(const Function& function, std::size_t given);

}  // namespace hostler::expression
