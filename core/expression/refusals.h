#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/expression/grammar.h"
#include "core/expression/lexer.h"

/// Messages about what stands where it may not, and about what of expr the language leaves out.
namespace hostler::expression {

std::string why_not_here(const Token& token);
/// Why a name is refused that is no variable, no metric, and is not used as the language uses it.
/// `metrics`: those that there are.
std::string why_not(std::string_view name, std::span<const std::string> metrics);
std::string no_metric(std::string_view name, std::span<const std::string> metrics);
std::string wrong_count(const Function& function, std::size_t given);

}  // namespace hostler::expression
